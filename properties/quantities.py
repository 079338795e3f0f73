"""Quantities whose worst value ccmatic searches.

Each quantity is a condition in the language of `avoids`, in which x is the value.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from ccmatic.base import InputError, shown, suggest, syntax_tree


@dataclass(frozen=True)
class Quantity:
    """A quantity for which ccmatic searches the worst value.

    Attributes:
        what: The condition that the quantity is worse than x.
        worse: The relation to x of the values that satisfy `what`: "above", "at least", "below" or "at most" x; None if
            unknown.
        unit: The unit of x in words.
        low: The smallest x that the search tries.
        high: The largest x that the search tries; None if x is a number of steps, whose maximum is half a trace.
        step: The resolution of x.
        flows: The smallest and the largest number of flows for which the quantity is defined.
        index: An index derived from x: its name, and the function from x to the index.
        in_round_trip: Whether the quantity concerns the events of one R_m. The trace must cover that R_m.
    """

    what: str
    worse: str | None = None
    unit: str = ""
    low: Fraction = Fraction(0)
    high: Fraction | None = Fraction(1)
    step: Fraction = Fraction(1, 100)
    flows: tuple[int, int] = (1, 8)
    index: tuple[str, Callable[[Fraction], Fraction]] | None = None
    in_round_trip: bool = False

    @property
    def grows(self):
        """Whether larger values are worse; None if unknown."""
        return None if self.worse is None else self.worse in ("above", "at least")

    def require(self, of, model_name, model, horizon):
        """Require that a model and a horizon can show this quantity. Error messages call the quantity `of`.

        Raises:
            InputError: If the model has another number of flows, or the trace covers no complete R_m.
        """
        least, most = self.flows
        flows, R = model.flows, model.round_trip(1)
        if self.in_round_trip and horizon <= R:
            problem = f"{of} concerns one R_m, which is {R} steps, and a trace of {horizon} steps shows {horizon - 1}"
            raise InputError(f"{problem}; expected a horizon of {R + 1} at least")
        if not least <= flows <= most:
            expected = f"{least} flows" if least == most else f"{least} to {most} flows"
            raise InputError(
                f"{of} requires {expected}, and {model_name} has {flows}; expected another model or quantity"
            )

    def up_to(self, high, horizon):
        """Return this quantity with x limited to `high`.

        If x is a number of steps, the quantity then concerns only events at least `high` steps before the end of a
        trace. Later events may last longer than the trace shows.

        Raises:
            InputError: If the trace is too short.
        """
        if self.high is not None:
            return self
        if high >= horizon:
            problem = (
                f"the search for x goes up to {high} steps, and a trace of {horizon} steps shows at most {horizon - 1}"
            )
            raise InputError(f"{problem}; expected a longer horizon")
        last = horizon - 1 - high
        return replace(self, what=self.what.format(high=high), unit=f"{self.unit} by step {last}")


#: C·R_m, the smallest number of bytes in flight that fills the link.
BDP = "C·R_m"

_LARGEST = Fraction(16)


def jain(share):
    """Return Jain's index of two flows, (a + b)² / (2·(a² + b²)), where one flow has the given share."""
    return 1 / (2 * (share**2 + (1 - share) ** 2))


#: Some flow gets less than the share x of the bytes served. If an execution repeats, shares are of its last period.
_SHARE = Quantity(
    "ANYT(0, N, lambda n: S_f[n][-1] - S_f[n][begin] < x * (S[-1] - S[begin]))",
    "below",
    "of what was served, for some flow",
    high=Fraction(1, 2),
    flows=(2, 8),
)

QUANTITIES = {
    "utilisation": Quantity(
        "S[-1] - S[begin] < x * (offered[-1] - offered[begin])", "below", "of what the link carries"
    ),
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


#: The expectations that these conditions break. {x} stands for the amount.
EXPECTED = {
    QUANTITIES["utilisation"].what: "utilisation >= {x}",
    QUANTITIES["utilisation"].what.replace("begin", "0"): "utilisation >= {x}",
    QUANTITIES["loss"].what: "loss <= {x} bdp",
    QUANTITIES["queue"].what: "queue <= {x} bdp",
    QUANTITIES["window"].what: "window <= {x} bdp",
    _SHARE.what: "share >= {x}",
    _SHARE.what.replace("begin", "0"): "share >= {x}",
    "L[-1] - L[0] > x * (A[-1] - A[0])": "loss <= {x}",
}

#: The same of strict expectations, which the amount itself breaks.
EXPECTED |= {
    what.replace(" > x", " >= x").replace(" < x", " <= x"): text.replace("=", "") for what, text in EXPECTED.items()
}


def in_words(what, x):
    """Return the expectation that `what` breaks at the value x, such as `share >= 1/20`; "" if none is known."""
    text = what.replace("T-1]", "-1]").replace("(C * R)", "C * R")
    return EXPECTED.get(text, "").format(x=x)


def quantity(of):
    """Return the Quantity that a name or a condition describes. A condition that does not read x is decided only once.

    Raises:
        InputError: If no such quantity exists.
    """
    if of in QUANTITIES:
        return QUANTITIES[of]
    if of.isidentifier():
        raise InputError(f"there is no quantity '{shown(of)}'; {suggest(of, QUANTITIES)}, or a condition on x")
    try:
        names = {node.id for node in ast.walk(syntax_tree(of, mode="eval")) if isinstance(node, ast.Name)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        names = {"x"}  # the reader of conditions reports the error
    return Quantity(of) if "x" in names else Quantity(of, high=Fraction(0))
