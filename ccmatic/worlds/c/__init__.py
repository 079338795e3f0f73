"""Terms compiled to C code, in integers and fixed point."""

from ccmatic.worlds.c.floats import float_function, float_literal
from ccmatic.worlds.c.update import LARGEST_BELIEF, LARGEST_KEPT, LINE_RATE, LONGEST_DELAY, ONE, Decision, Update
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
