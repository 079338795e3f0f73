"""The language of controllers: read, run, encode, print."""

from ccmatic.language.controller import BELIEFS, Controller, load, parse
from ccmatic.language.printer import text
from ccmatic.language.tree import Binary, Comparison, Extreme, If, Logic, Name, Not, Number

__all__ = [
    "BELIEFS",
    "Binary",
    "Comparison",
    "Controller",
    "Extreme",
    "If",
    "Logic",
    "Name",
    "Not",
    "Number",
    "load",
    "parse",
    "text",
]
