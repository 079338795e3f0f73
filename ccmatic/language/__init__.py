"""The language of controllers: read, run, encode, print."""

from ccmatic.language.controller import Controller, load, parse, shipped_beliefs
from ccmatic.language.decision import way_taken
from ccmatic.language.files import find_program
from ccmatic.language.given import given, sends_by_window
from ccmatic.language.order import require_order
from ccmatic.language.printer import text
from ccmatic.language.several import Several, begun_anywhere, each_of
from ccmatic.language.stateful import Stateful, is_stateful
from ccmatic.language.tree import (
    ARITHMETIC,
    ORDER,
    Affine,
    AnyOf,
    Between,
    Binary,
    Bounded,
    Comparison,
    Extreme,
    Function,
    If,
    Impossible,
    Item,
    Local,
    Logic,
    Name,
    Not,
    Number,
    Past,
    Remembered,
    Vector,
    as_sent,
    bare,
    leaves,
    nodes,
    parts,
)
from ccmatic.language.value import names, value
from ccmatic.language.walker import Walker, componentwise

__all__ = [
    "ARITHMETIC",
    "ORDER",
    "Affine",
    "AnyOf",
    "Between",
    "Binary",
    "Bounded",
    "Comparison",
    "Controller",
    "Extreme",
    "Function",
    "If",
    "Impossible",
    "Item",
    "Local",
    "Logic",
    "Name",
    "Not",
    "Number",
    "Past",
    "Remembered",
    "Several",
    "Stateful",
    "Vector",
    "Walker",
    "as_sent",
    "bare",
    "begun_anywhere",
    "componentwise",
    "each_of",
    "find_program",
    "given",
    "is_stateful",
    "leaves",
    "load",
    "names",
    "nodes",
    "parse",
    "parts",
    "require_order",
    "sends_by_window",
    "shipped_beliefs",
    "text",
    "value",
    "way_taken",
]
