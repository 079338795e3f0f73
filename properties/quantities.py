"""What a network may make worse and worse: conditions in the language of `avoids`, with x for how bad it is."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from ccmatic.base import InputError, shown, suggest


@dataclass(frozen=True)
class Quantity:
    """what: that it is worse than x. worse: by which it is so, "below" or "above" x; None where that is not known.
    unit: of x, in words. low, high, step: x from low to high, in steps; high is None where x is a number of steps, up
    to half a trace. flows: of how many flows it is said, at least and at most. index: a name, and what it is of a
    number that x is. in_round_trip: it is of what happens in an R_m, which a trace has to show."""

    what: str
    worse: str | None = None
    unit: str = ""
    low: Fraction = Fraction(0)
    high: Fraction | None = Fraction(1)
    step: Fraction = Fraction(1, 100)
    flows: tuple[int, int] = (1, 8)
    index: tuple[str, Callable[[Fraction], Fraction]] | None = None
    in_round_trip: bool = False

    def require(self, of, model_name, model, horizon):
        """Raise InputError where a model has not as many flows as this quantity, called `of`, is said of, or a trace
        shows no R_m."""
        least, most = self.flows
        flows, R = model.flows, model.round_trip(1)
        if self.in_round_trip and horizon <= R:
            problem = f"{of} is of an R_m, which is {R} steps, and a trace of {horizon} steps shows {horizon - 1}"
            raise InputError(f"{problem}; expected a horizon of {R + 1} at least")
        if not least <= flows <= most:
            expected = f"{least} flows" if least == most else f"{least} to {most} flows"
            raise InputError(f"{of} is of {expected}, {model_name} has {flows}; expected another model or quantity")

    def up_to(self, high, horizon):
        """The same where x is at most `high`. If x is a number of steps, it is about what happens at least so many
        steps before the end of a trace: what is later may go on for longer than the trace shows. Raises InputError for
        a trace that is too short."""
        if self.high is not None:
            return self
        if high >= horizon:
            problem = f"x is looked for up to {high} steps, and a trace of {horizon} steps shows at most {horizon - 1}"
            raise InputError(f"{problem}; expected a longer horizon")
        last = horizon - 1 - high
        return replace(self, what=self.what.format(high=high), unit=f"{self.unit} by step {last}")


#: C·R_m: bytes that are on their way on a link that is just used.
BDP = "C·R_m"

_LARGEST = Fraction(16)


def jain(share):
    """Jain's index of two flows of which one has this share: (a + b)² / (2·(a² + b²))."""
    return 1 / (2 * (share**2 + (1 - share) ** 2))


#: That some flow has less than the share x of what the link served: in the last period, where there is one.
_SHARE = Quantity(
    "ANYT(0, N, lambda n: S_f[n][-1] - S_f[n][begin] < x * (S[-1] - S[begin]))",
    "below",
    "of what was served, for some flow",
    high=Fraction(1, 2),
    flows=(2, 8),
)

QUANTITIES = {
    "utilisation": Quantity("S[-1] - S[0] < x * (offered[-1] - offered[0])", "below", "of what the link carries"),
    "loss": Quantity(
        "ANYT(R, T, lambda t: L[t] - L[t-R] > x * C * R)",
        "above",
        f"{BDP} lost in an R_m",
        high=_LARGEST,
        in_round_trip=True,
    ),
    "queue": Quantity(
        "ANYT(0, T, lambda t: A[t] - L[t] - S[t] > x * C * R)", "above", f"{BDP} that wait", high=_LARGEST
    ),
    "delay": Quantity(
        "ANYT(0, T-{high}, lambda t: A[t] - L[t] > S[t+x])",
        "above",
        "steps to be served, of bytes sent",
        high=None,
        step=Fraction(1),
    ),
    "window": Quantity(
        "ANYT(0, N, lambda n: ANYT(begin, T, lambda t: c_f[n][t] > x * C * R))",
        "above",
        f"{BDP} of window",
        high=_LARGEST,
    ),
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
