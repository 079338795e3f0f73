"""Terms compiled to C code, in integers and fixed point."""

from ccmatic.worlds.c.decision import LARGEST as LARGEST_BELIEF
from ccmatic.worlds.c.decision import Decision
from ccmatic.worlds.c.floats import float_function, float_literal
from ccmatic.worlds.c.update import LARGEST as LARGEST_KEPT
from ccmatic.worlds.c.update import LINE_RATE, LONGEST_DELAY, ONE, Update
from ccmatic.worlds.c.window import window_functions

__all__ = [
    "LARGEST_BELIEF",
    "LARGEST_KEPT",
    "LINE_RATE",
    "LONGEST_DELAY",
    "ONE",
    "Decision",
    "Update",
    "float_function",
    "float_literal",
    "window_functions",
]
