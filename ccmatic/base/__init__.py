"""The foundation of all other packages: errors, files, units, quantities, and the lookup of definitions."""

from ccmatic.base import definitions, installed, markup, quantities
from ccmatic.base.bisection import last_good, last_good_at_once, last_good_from_above
from ccmatic.base.blame import blamed, blamed_files, place_of
from ccmatic.base.catalogue import KINDS, list_names
from ccmatic.base.clock import Clock, OutOfTime
from ccmatic.base.columns import aligned, counted
from ccmatic.base.definitions import Alias, absolute
from ccmatic.base.embedding import c_comment, c_name, docstring, smtlib_comment, smtlib_name
from ccmatic.base.errors import (
    BetweenSteps,
    Disagreement,
    InputError,
    SolverEnded,
    TooShort,
    Unreadable,
    located,
    shown,
    suggest,
)
from ccmatic.base.files import (
    LARGEST,
    line_of,
    load_toml,
    located_in,
    opened,
    parse_json,
    read_text,
    require_folder,
    writable_folder,
    write_bytes,
    write_text,
)
from ccmatic.base.late import late
from ccmatic.base.quantities import exact
from ccmatic.base.syntax import syntax_tree
from ccmatic.base.units import BYTES, CONDITION, CONSTANTS, NUMBER, RATE, TIME, Unit

__all__ = [
    "BYTES",
    "CONDITION",
    "CONSTANTS",
    "KINDS",
    "LARGEST",
    "NUMBER",
    "RATE",
    "TIME",
    "Alias",
    "BetweenSteps",
    "Clock",
    "Disagreement",
    "InputError",
    "OutOfTime",
    "SolverEnded",
    "TooShort",
    "Unit",
    "Unreadable",
    "absolute",
    "aligned",
    "blamed",
    "blamed_files",
    "c_comment",
    "c_name",
    "counted",
    "definitions",
    "docstring",
    "exact",
    "installed",
    "last_good",
    "last_good_at_once",
    "last_good_from_above",
    "late",
    "line_of",
    "list_names",
    "load_toml",
    "located",
    "located_in",
    "markup",
    "opened",
    "parse_json",
    "place_of",
    "quantities",
    "read_text",
    "require_folder",
    "shown",
    "smtlib_comment",
    "smtlib_name",
    "suggest",
    "syntax_tree",
    "writable_folder",
    "write_bytes",
    "write_text",
]
