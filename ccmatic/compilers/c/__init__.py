"""Terms compiled to C code, in integers and fixed point."""

from ccmatic.compilers.c.decision import LARGEST as LARGEST_BELIEF
from ccmatic.compilers.c.decision import Decision
from ccmatic.compilers.c.floats import float_function, float_literal
from ccmatic.compilers.c.update import LARGEST as LARGEST_KEPT
from ccmatic.compilers.c.update import LINE_RATE, LONGEST_DELAY, ONE, Update
from ccmatic.compilers.c.window import window_functions

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
