"""Controllers for tests: points to ask them at, and what is printed of them as source again."""

import re
from fractions import Fraction

from ccmatic.base import CONSTANTS
from ccmatic.controllers import parse, shipped_beliefs

NAMES = (*shipped_beliefs(), *CONSTANTS)
SIGNATURE = f"def rate({', '.join(NAMES)}):\n"


def one(expression):
    """A controller of one return."""
    return parse(f"{SIGNATURE}    return {expression}\n")


def point(**values):
    """A value for every name: 1, 2, 3, … unless given."""
    return {name: Fraction(values.get(name, i)) for i, name in enumerate(NAMES, 1)}


def indented(lines):
    return ["    " + line for line in lines]


def as_python(pretty):
    """The printed form, as source again."""
    lines = []
    for line in pretty.splitlines():
        line = re.sub(r"rate = (.*)", r"return \1", line)
        line = re.sub(r"(\S.*) ≤ rate ≤ (.*)", r"return between(\1, \2)", line)
        for sign, op in ((" = ", " == "), ("≤", "<="), ("≥", ">="), ("≠", "!="), ("·", " * ")):
            line = line.replace(sign, op)
        lines.append(line)
    return SIGNATURE + "\n".join(indented(lines))
