"""What a network may make worse and worse: conditions in the language of `avoids`, with x for how bad it is."""

import ast
from dataclasses import dataclass
from fractions import Fraction

from ccmatic.base import InputError, shown, suggest


@dataclass(frozen=True)
class Quantity:
    """what: that it is worse than x. worse: by which it is so, "below" or "above" x; None where that is not known.
    unit: of x, in words. low, high, step: x from low to high, in steps; high is None where that is a trace's length."""

    what: str
    worse: str | None = None
    unit: str = ""
    low: Fraction = Fraction(0)
    high: Fraction | None = Fraction(1)
    step: Fraction = Fraction(1, 100)


#: C·R_m: bytes that are on their way on a link that is just used.
BDP = "C·R_m"

_LARGEST = Fraction(16)

QUANTITIES = {
    "utilisation": Quantity("S[-1] - S[0] < x * C * (T-1)", "below", "of what the link carries"),
    "loss": Quantity(
        "ANYT(R, T, lambda t: L[t] - L[t-R] > x * C * R)", "above", f"{BDP} lost in an R_m", high=_LARGEST
    ),
    "queue": Quantity(
        "ANYT(0, T, lambda t: A[t] - L[t] - S[t] > x * C * R)", "above", f"{BDP} that wait", high=_LARGEST
    ),
    "delay": Quantity(
        "ANYT(0, T-x, lambda t: A[t] - L[t] > S[t+x])", "above", "steps to be served", high=None, step=Fraction(1)
    ),
    "window": Quantity("ANYT(0, T, lambda t: c_f[0][t] > x * C * R)", "above", f"{BDP} of window", high=_LARGEST),
}


def quantity(of):
    """The Quantity of a name, or of a condition; one that does not say x is asked about once. Raises InputError."""
    if of in QUANTITIES:
        return QUANTITIES[of]
    if of.isidentifier():
        raise InputError(f"there is no quantity '{shown(of)}'; {suggest(of, QUANTITIES)}, or a condition on x")
    try:
        names = {node.id for node in ast.walk(ast.parse(of, mode="eval")) if isinstance(node, ast.Name)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        names = {"x"}  # what is wrong with it is told as it is read
    return Quantity(of) if "x" in names else Quantity(of, high=Fraction(0))
