"""What is drawn of a trace: its columns as floats, in units of C and R_m."""

from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from ccmatic import controllers
from ccmatic.base import BYTES, RATE, TIME, InputError
from ccmatic.contracts import RunningMin, load_definition
from ccmatic.traces.charts import scales

#: Of more than so many steps, lines are thin and markers few.
CROWD = 25


@dataclass(frozen=True)
class Samples:
    """What is drawn of a trace, at t = 0 … steps-1. Time is in R_m, bytes are in C·R_m, rates in C.

    A, S, L, K: cumulative bytes sent, served, lost, and tokens. r: the rate over (t-1, t]. Q: measured delay.
    bounds: the values of each belief that bounds a rate, by belief. beta: the buffer or None. D: jitter. window: the
    window of a sender that has one, whose r is what it sends. allowed: the least and the most rate over (t-1, t], from
    t = 1, if the sender is an envelope.
    """

    steps: int
    A: list
    S: list
    L: list
    K: list
    r: list
    Q: list
    bounds: dict
    beta: float | None
    D: int
    window: list
    allowed: list

    @staticmethod
    def of(trace, model=None):
        """What is drawn of a Trace, which has beliefs of this Model. Raises InputError if it lacks what a drawing
        needs."""
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
    def times(self):
        """The end of each step, in R_m."""
        return range(self.steps)

    @property
    def line(self):
        """The width of a line, in points."""
        return 2 if self.steps <= CROWD else 1.2

    @property
    def kept(self):
        """Bytes sent and not lost."""
        return [sent - lost for sent, lost in zip(self.A, self.L, strict=True)]

    @property
    def queue(self):
        """How long the bottleneck needs for its queue at each step, in R_m; 0 where tokens wait for bytes."""
        return [max(0, kept - tokens) for kept, tokens in zip(self.kept, self.K, strict=True)]

    @property
    def service(self):
        """The least and the most that the network may have served by each step, in C·R_m, given its tokens."""
        least = [self.K[t - self.D] if t >= self.D else self.K[0] - (self.D - t) for t in self.times]
        return [max(0, bytes) for bytes in least], list(map(min, self.K, self.kept))

    @property
    def losses(self):
        """The steps in which bytes are lost."""
        return [t for t in self.times[1:] if self.L[t] > self.L[t - 1]]


def _rates(trace):
    """The rate over each step; of a sender with a window it is what was sent, as its r may limit nothing."""
    if "cwnd" not in trace.columns:
        return trace.columns["r"]
    return [0, *(after - before for before, after in pairwise(trace.columns["A"]))]


def _envelope(trace):
    """What the trace's envelope allows at t = 1, 2, …; nothing where it has none that can be read."""
    with suppress(InputError):
        controller = controllers.parse(trace.controller or "")
        return trace.allowed(controller) if controller.is_envelope else []
    return []


def _rate_bounds(trace, model):
    """The beliefs of the model that bound a rate, and of which the trace has a column: lower bounds first."""
    bounds = [bound for bound in model.bounds() if bound.unit == RATE and bound.name in trace.columns] if model else []
    return sorted(bounds, key=lambda bound: isinstance(bound, RunningMin))


def _scaled(column, unit):
    return [float(value / unit) for value in column]
