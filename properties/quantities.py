"""What a network may make worse and worse: conditions in the language of `avoids`, with x for how bad it is."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from ccmatic.base import InputError, shown, suggest


@dataclass(frozen=True)
class Quantity:
    """what: that it is worse than x. worse: by which it is so, "below" or "above" x; None where that is not known.
    unit: of x, in words. low, high, step: x from low to high, in steps; high is None where that is a trace's length.
    flows: of how many flows it is said, at least and at most. index: a name, and what it is of a number that x is."""

    what: str
    worse: str | None = None
    unit: str = ""
    low: Fraction = Fraction(0)
    high: Fraction | None = Fraction(1)
    step: Fraction = Fraction(1, 100)
    flows: tuple[int, int] = (1, 8)
    index: tuple[str, Callable[[Fraction], Fraction]] | None = None

    def require(self, of, model_name, flows):
        """Raise InputError where a model has not as many flows as this quantity, called `of`, is said of."""
        least, most = self.flows
        if not least <= flows <= most:
            expected = f"{least} flows" if least == most else f"{least} to {most} flows"
            raise InputError(f"{of} is of {expected}, {model_name} has {flows}; expected another model or quantity")


#: C·R_m: bytes that are on their way on a link that is just used.
BDP = "C·R_m"

_LARGEST = Fraction(16)


def jain(share):
    """Jain's index of two flows of which one has this share: (a + b)² / (2·(a² + b²))."""
    return 1 / (2 * (share**2 + (1 - share) ** 2))


#: That some flow has less than the share x of what the link served.
_SHARE = Quantity(
    "ANYT(0, N, lambda n: S_f[n][-1] - S_f[n][0] < x * (S[-1] - S[0]))",
    "below",
    "of what was served, for some flow",
    high=Fraction(1, 2),
    flows=(2, 8),
)

QUANTITIES = {
    "utilisation": Quantity("S[-1] - S[0] < x * (offered[-1] - offered[0])", "below", "of what the link carries"),
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
    "share": _SHARE,
    "jain": replace(_SHARE, flows=(2, 2), index=("Jain's index", jain)),
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
