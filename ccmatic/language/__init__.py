"""The language of controllers: read, run, encode, print."""

from ccmatic.language.controller import Controller, load, parse, shipped_beliefs
from ccmatic.language.decision import way_taken
from ccmatic.language.given import given, sends_by_window
from ccmatic.language.order import require_order
from ccmatic.language.printer import text
from ccmatic.language.several import Several, begun_anywhere, each_of
from ccmatic.language.stateful import Stateful, is_stateful
from ccmatic.language.tree import (
    ARITHMETIC,
    ORDER,
    AnyOf,
    Between,
    Binary,
    Bounded,
    Comparison,
    CubeRoot,
    Extreme,
    If,
    Impossible,
    Logic,
    Name,
    Not,
    Number,
    Past,
    Remembered,
    as_sent,
    leaves,
    parts,
)

__all__ = [
    "ARITHMETIC",
    "ORDER",
    "AnyOf",
    "Between",
    "Binary",
    "Bounded",
    "Comparison",
    "Controller",
    "CubeRoot",
    "Extreme",
    "If",
    "Impossible",
    "Logic",
    "Name",
    "Not",
    "Number",
    "Past",
    "Remembered",
    "Several",
    "Stateful",
    "as_sent",
    "begun_anywhere",
    "each_of",
    "given",
    "is_stateful",
    "leaves",
    "load",
    "parse",
    "parts",
    "require_order",
    "sends_by_window",
    "shipped_beliefs",
    "text",
    "way_taken",
]
