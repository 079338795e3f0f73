"""The language of controllers: read, run, encode, print."""

from ccmatic.language.controller import Controller, load, parse, shipped_beliefs
from ccmatic.language.decision import way_taken
from ccmatic.language.given import given
from ccmatic.language.printer import text
from ccmatic.language.stateful import Stateful
from ccmatic.language.tree import ARITHMETIC, ORDER, Binary, Comparison, Extreme, If, Logic, Name, Not, Number

__all__ = [
    "ARITHMETIC",
    "ORDER",
    "Binary",
    "Comparison",
    "Controller",
    "Extreme",
    "If",
    "Logic",
    "Name",
    "Not",
    "Number",
    "Stateful",
    "given",
    "load",
    "parse",
    "shipped_beliefs",
    "text",
    "way_taken",
]
