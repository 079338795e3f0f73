"""The columns of a trace as floats for drawings, in units of C and R_m."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ccmatic import controllers
from ccmatic.base import BYTES, RATE, TIME, InputError
from ccmatic.contracts import Model, RunningMin, load_definition
from ccmatic.networks.traces.charts import scales

if TYPE_CHECKING:
    from ccmatic.networks.traces.trace import Trace

#: Above this number of steps, lines are thin and markers are few.
CROWD = 25


@dataclass(frozen=True)
class Samples:
    """The columns of a trace for a drawing, at t = 0 … steps-1. Times are in R_m, bytes in C·R_m, and rates in C.

    Attributes:
        A: Cumulative bytes sent.
        S: Cumulative bytes served.
        L: Cumulative bytes lost.
        K: Cumulative tokens.
        r: The rate over (t-1, t]. If the sender uses a window, `r` is the rate at which it sent.
        Q: The measured delay.
        bounds: The values of each belief that bounds a rate.
        beta: The buffer, or None if it is infinite.
        D: The largest jitter.
        window: The window of the sender, or None if the sender uses no window.
        allowed: For an envelope, the smallest and the largest allowed rate over (t-1, t], from t = 1 on.
    """

    steps: int
    A: list[float]
    S: list[float]
    L: list[float]
    K: list[float]
    r: list[float]
    Q: list[float]
    bounds: dict[Any, list[float]]
    beta: float | None
    D: int
    window: list[float]
    allowed: list[list[float]]

    @staticmethod
    def of(trace: "Trace", model: Model | None = None) -> "Samples":
        """Return the Samples of a Trace, with the beliefs of the Model, by default the one that the trace names."""
        with suppress(InputError):
            model = model or load_definition("models", "MODEL", trace.query.get("model"))
        try:
            scale, D = scales(trace), trace.constants["D"]
            bytes_, C, R_m = (scale[unit] for unit in (BYTES, RATE, TIME))
            sizes = {name: _scaled(trace.columns[name], bytes_) for name in "ASL"}
            return Samples(
                steps=trace.horizon,
                **sizes,
                K=_scaled(trace.tokens(model), bytes_),
                r=_scaled(_rates(trace), C),
                Q=_scaled(trace.columns["Q"], 1),
                bounds={bound: _scaled(trace.columns[bound.name], C) for bound in _rate_bounds(trace, model)},
                beta=float(trace.constants["beta"] / bytes_) if "beta" in trace.constants else None,
                D=int(D / R_m),
                window=_scaled(trace.columns.get("cwnd", ()), bytes_),
                allowed=[_scaled(rates or (0, 0), C) for rates in _envelope(trace)],
            )
        except KeyError as error:
            raise InputError(f"cannot draw the trace: it has no {error.args[0]}") from None
        except OverflowError:
            raise InputError("cannot draw the trace: it has a number above 1e308") from None

    @property
    def times(self) -> range:
        return range(self.steps)

    @property
    def line(self) -> float:
        return 2 if self.steps <= CROWD else 1.2

    @property
    def kept(self) -> list[float]:
        return [sent - lost for sent, lost in zip(self.A, self.L, strict=True)]

    @property
    def queue(self) -> list[float]:
        """The time in R_m that the bottleneck needs for its queue at each step; 0 if unused tokens wait for bytes."""
        return [max(0, kept - tokens) for kept, tokens in zip(self.kept, self.K, strict=True)]

    @property
    def service(self) -> tuple[list[float], list[float]]:
        """The smallest and largest number of bytes, in C·R_m, that the network may have served, given its tokens."""
        least = [self.K[t - self.D] if t >= self.D else self.K[0] - (self.D - t) for t in self.times]
        return [max(0, bytes) for bytes in least], list(map(min, self.K, self.kept))

    @property
    def losses(self) -> list[int]:
        return [t for t in self.times[1:] if self.L[t] > self.L[t - 1]]


def _rates(trace: "Trace") -> Sequence[Fraction | int]:
    """Return the rate over each step.

    For a window sender, it is the rate of the bytes sent, because r may stand for no limit.
    """
    if "cwnd" not in trace.columns:
        return trace.columns["r"]
    return [0, *(after - before for before, after in pairwise(trace.columns["A"]))]


def _envelope(trace: "Trace") -> list[Any]:
    """Return the rates that the trace's envelope allows at t = 1, 2, …; an empty list if no envelope is readable."""
    with suppress(InputError):
        controller = controllers.parse(trace.controller or "")
        return trace.allowed(controller) if controller.is_envelope else []
    return []


def _rate_bounds(trace: "Trace", model: Model | None) -> list[Any]:
    """Return the model's beliefs that bound a rate and have a column in the trace. Lower bounds come first."""
    bounds = [bound for bound in model.bounds() if bound.unit == RATE and bound.name in trace.columns] if model else []
    return sorted(bounds, key=lambda bound: isinstance(bound, RunningMin))


def _scaled(column: Iterable[Any], unit: Fraction | int) -> list[float]:
    return [float(value / unit) for value in column]
