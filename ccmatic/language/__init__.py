"""The language of controllers: read, run, encode, print."""

from ccmatic.language.controller import Controller, load, parse, shipped_beliefs
from ccmatic.language.decision import way_taken
from ccmatic.language.given import given
from ccmatic.language.printer import text
from ccmatic.language.stateful import Stateful, is_stateful
from ccmatic.language.tree import (
    ARITHMETIC,
    ORDER,
    AnyOf,
    Binary,
    Comparison,
    Extreme,
    If,
    Impossible,
    Logic,
    Name,
    Not,
    Number,
    Past,
    leaves,
)

__all__ = [
    "ARITHMETIC",
    "ORDER",
    "AnyOf",
    "Binary",
    "Comparison",
    "Controller",
    "Extreme",
    "If",
    "Impossible",
    "Logic",
    "Name",
    "Not",
    "Number",
    "Past",
    "Stateful",
    "given",
    "is_stateful",
    "leaves",
    "load",
    "parse",
    "shipped_beliefs",
    "text",
    "way_taken",
]
