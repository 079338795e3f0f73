"""The particle filter of Learn-to-Probe (Tian et al., EuroSys 2026, section 4). Time is in seconds.

A particle is a likely state of a path, given a sender's observations. Other senders may also use the path. Comments
mark two sorts of places: where the paper leaves a choice open, and where its printed formula must be wrong
(docs/reports/learners.md).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ccmatic.contracts import TraceData

if TYPE_CHECKING:
    from jax import Array


@dataclass(frozen=True)
class Signals:
    """The signals of one interval. These signals describe the bytes sent in the interval.

    Attributes:
        factor: The number of bytes sent, divided by the number of bytes sent in the previous interval.
        rtt: The time from sending to acknowledgement of the last byte, in seconds.
        throughput: The rate at which the link served the bytes, in any unit.
        loss: The lost share of the bytes sent.
    """

    factor: float
    rtt: float
    throughput: float
    loss: float


def signals(trace: TraceData, rtt: float) -> Iterator[Signals | None]:
    """Yield the Signals of the steps t = 1, 2, … of a trace, up to the last step whose bytes were served.

    The signals of a step (section 4 of the paper) describe the bytes sent in it, which are spread evenly. The sender
    knows them as soon as these bytes are served. They are None if no byte was sent in this step or the previous one, or
    if all its bytes were lost. `rtt` is R_m in seconds.
    """
    A, S, L = (np.array(trace.columns[name], float) for name in "ASL")
    kept = A - L
    for t in range(1, trace.horizon):
        if kept[t] > S[-1]:
            return
        sent, through = A[t] - A[t - 1], kept[t] - kept[t - 1]
        before = A[t - 1] - A[t - 2] if t > 1 else float(trace.columns["r"][0])
        if not through or not before:
            yield None
            continue
        begin, end = _time_of(S, kept[t - 1]), _time_of(S, kept[t])
        yield Signals(*map(float, (sent / before, (end - t + 1) * rtt, through / (end - begin), 1 - through / sent)))


def _time_of(S: NDArray[np.float64], level: float) -> float:
    """Return the time in steps at which service reaches a level; 0 if service starts there."""
    after = int(np.searchsorted(S, level))
    if not after:
        return 0.0
    return float(after - 1 + (level - S[after - 1]) / (S[after] - S[after - 1]))


#: Type variables. One stands for arrays of NumPy. The others stand for arrays of NumPy or JAX, in functions and in a
#: class.
NumPy: TypeAlias = NDArray[Any]
Numbers = TypeVar("Numbers", NumPy, "Array")
Column = TypeVar("Column")

#: Values of the paper's Table 4: the number of particles; the sensitivity to gaps of delay (1/s), of throughput and of
#: loss (ratios); the ranges of the gradient of others' rate (1/s), of the jitter of delay (s), of the jitter of rates,
#: and of the jitter of losses.
COUNT = 1000
SENSITIVITY = {"delay": 50.0, "throughput": 10.0, "loss": 10.0}
GRADIENT, DELAY_JITTER, RATE_JITTER, LOSS_JITTER = 1.5, 0.02, 0.05, 0.001

#: Upper limits for the first particles: for a rate (own or others') in C, and for a delay in s. The paper does not
#: state such limits.
FIRST_RATE, FIRST_DELAY = 2.0, 0.1

#: The two percentiles that form a range (Eq. 9).
PERCENTS = (10, 90)


class Measurements(Protocol):
    """The measurements of an interval, for one flow or for many flows. `Signals` explains them."""

    @property
    def rtt(self) -> "float | Array": ...

    @property
    def throughput(self) -> "float | Array": ...

    @property
    def loss(self) -> "float | Array": ...


class FilterState(NamedTuple, Generic[Column]):
    """Particles, with one NumPy or JAX array per quantity.

    Attributes:
        own: The sender's own rate in C.
        others: The rate of other senders in C.
        delay: The queueing delay in s.
        full: Whether the bottleneck's buffer is full.
    """

    own: Column
    others: Column
    delay: Column
    full: Column

    def some(self, chosen: Column) -> "FilterState[Column]":
        columns: tuple[Any, ...] = self
        return FilterState(*(column[chosen] for column in columns))

    def and_(self, other: "FilterState[Column]") -> "FilterState[Column]":
        """Return these particles, followed by the other ones."""
        return FilterState(*map(self.arrays.concatenate, zip(self, other, strict=True)))

    @property
    def arrays(self) -> Any:
        """The array module of the particles: NumPy or jax.numpy."""
        own: Any = self.own
        return own.__array_namespace__()


def gap_of_all(gaps: Numbers) -> Numbers:
    """Return the probability that a particle is discarded, for gaps (signals, particles).

    A particle stays only if no signal discards it, which each does with probability gap/(1 + gap).
    """
    discarded: Numbers = 1 - np.prod(1 / (1 + gaps), axis=0)
    return discarded


def gap_of_one(gaps: Numbers) -> Numbers:
    """Return this probability by Eq. 5 as the paper prints it: a particle stays if one signal matches."""
    discarded: Numbers = np.prod(gaps / (1 + gaps), axis=0)
    return discarded


class ParticleFilter:
    """The particle filter of one flow. Its method `update` takes the Signals of each interval in turn.

    Its `state` is None before two updates, and `begun` counts how often the filter drew all particles anew, because
    none was left.

    Args:
        interval: The length of an interval in seconds.
        seed: The seed of all random choices.
        count: The number of particles.
        mismatch: A function from gaps to the probability that a particle is discarded.
        alone: The share of the initial particles without other active senders. No transition brings the rate of other
            senders to 0.
        bounds: Whether the highest throughput and the smallest RTT act as bounds, as in Eq. 4. Otherwise, both act as
            signals, and their differences from a particle count, as in Eq. 5.
    """

    def __init__(
        self,
        interval: float,
        seed: int = 0,
        count: int = COUNT,
        mismatch: Callable[[NumPy], NumPy] = gap_of_all,
        alone: float = 0.5,
        bounds: bool = False,
    ) -> None:
        self._interval, self._count, self._mismatch = interval, count, mismatch
        self._alone, self._bounds = alone, bounds
        self._random = np.random.default_rng(seed)
        self._last: Signals | None = None
        self.state: FilterState[NumPy] | None = None
        self._least_rtt, self._most_rtt, self._most_throughput, self.begun = np.inf, 0.0, 0.0, 0

    def update(self, signals: Signals) -> None:
        """Process the Signals of an interval: transition, division, observation, filtering and resampling."""
        self._least_rtt, self._most_rtt = min(self._least_rtt, signals.rtt), max(self._most_rtt, signals.rtt)
        self._most_throughput = max(self._most_throughput, signals.throughput)
        if self._last is not None:
            before = self._first() if self.state is None else self.state
            before, now = self._divide(before, self._move(before, signals.factor))
            stays = self._random.random(len(now.own)) >= self._mismatch(self._gaps(before, now, signals))
            self.begun += not stays.any()
            self.state = self._resample(now.some(stays)) if stays.any() else self._first()
        self._last = signals

    def ranges(self) -> dict[str, tuple[float, float]]:
        """Return the 10th to 90th percentile ranges by the names of FilterState's fields; {} before two updates."""
        if self.state is None:
            return {}
        return {name: tuple(np.percentile(getattr(self.state, name), PERCENTS)) for name in ("own", "others", "delay")}

    def _first(self) -> FilterState[NumPy]:
        most = (FIRST_RATE, FIRST_RATE, FIRST_DELAY)
        own, others, delay = (self._random.uniform(0, limit, self._count) for limit in most)
        alone = self._random.random(self._count) < self._alone
        return FilterState(own, np.where(alone, 0, others), delay, np.zeros(self._count, bool))

    def _move(self, before: FilterState[NumPy], factor: float) -> FilterState[NumPy]:
        gradient = self._random.uniform(-GRADIENT, GRADIENT, len(before.own))
        return moved(before, factor, gradient, self._interval)

    def _divide(
        self, before: FilterState[NumPy], now: FilterState[NumPy]
    ) -> tuple[FilterState[NumPy], FilterState[NumPy]]:
        """Divide each particle with at least the longest observed delay into one with a full queue, and one without.

        The queues of the other particles are not full. The earlier particles are divided in the same way.
        """
        longest = now.delay >= self._most_rtt - self._least_rtt
        split = now._replace(full=longest)
        again = split.some(longest)
        without = again._replace(full=np.zeros(len(again.own), bool))
        return before.and_(before.some(longest)), split.and_(without)

    def _gaps(self, before: FilterState[NumPy], now: FilterState[NumPy], signals: Signals) -> NumPy:
        extremes = self._least_rtt, self._most_throughput
        jitter = [self._random.uniform(0, LOSS_JITTER, len(now.own)) for _ in range(2)]
        assert self._last is not None
        return gaps(before, now, self._last, signals, extremes, jitter, self._bounds)

    def _resample(self, kept: FilterState[NumPy]) -> FilterState[NumPy]:
        """Return the initial number of particles: the remaining particles, and mutations of some of them."""
        left = len(kept.own)
        if left >= self._count:
            return kept.some(self._random.choice(left, self._count, replace=False))
        chosen = kept.some(self._random.integers(left, size=self._count - left))
        own, others = self._random.uniform(1 - RATE_JITTER, 1 + RATE_JITTER, (2, len(chosen.own)))
        shifted = chosen.delay + self._random.uniform(-DELAY_JITTER, DELAY_JITTER, len(chosen.own))
        return kept.and_(FilterState(chosen.own * own, chosen.others * others, np.maximum(0, shifted), chosen.full))


def moved(
    before: FilterState[Numbers], factor: Numbers | float, gradient: Numbers, interval: Numbers | float
) -> FilterState[Numbers]:
    """Return a FilterState one interval later.

    The sender's own rate changes by a factor. The queue grows by the arrivals minus the bytes that the link serves. The
    paper prints the range of the gradient of the others' rate, in 1/s, as [0, O_j]. With that range, other senders
    could never slow down, so it is [-O_j, O_j] here.
    """
    xp, own = before.arrays, before.own * factor
    others = xp.maximum(0, before.others * (1 + gradient * interval))
    delay = xp.maximum(0, before.delay + (own + others - 1) * interval)
    return FilterState(own, others, xp.where(before.full, xp.minimum(before.delay, delay), delay), before.full)


def gaps(
    before: FilterState[Numbers],
    now: FilterState[Numbers],
    last: Measurements,
    latest: Measurements,
    extremes: tuple[Numbers | float, Numbers | float],
    jitter: Sequence[Numbers],
    bounds: bool = False,
) -> Numbers:
    """Return the difference between each signal and a particle's expectation. Signals are the first axis.

    `extremes` are the smallest RTT and the highest throughput so far, and `jitter` that of the losses in the current
    and the previous interval, from 0 to LOSS_JITTER. If `extremes` act as `bounds` (Eq. 4), only a violation counts.
    """
    xp, delay, ratio = now.arrays, SENSITIVITY["delay"], SENSITIVITY["throughput"]
    least_rtt, most_throughput = extremes
    through, kept = _throughput(now), (1 - _loss(now, jitter[0])) / (1 - _loss(before, jitter[1]))
    kept_seen = (1 - latest.loss) / xp.maximum(1 - last.loss, LOSS_JITTER)
    beyond = xp.stack([through - latest.throughput / most_throughput, latest.rtt - least_rtt - now.delay])
    beyond = xp.maximum(0, beyond) if bounds else xp.abs(beyond)
    every: Numbers = xp.stack(
        [
            delay * xp.abs(latest.rtt - last.rtt - (now.delay - before.delay)),
            ratio * xp.abs(latest.throughput / last.throughput - through / _throughput(before)),
            SENSITIVITY["loss"] * xp.abs(kept_seen - kept),
            ratio * beyond[0],
            delay * beyond[1],
        ]
    )
    return every


def _loss(state: FilterState[Numbers], jitter: Numbers) -> Numbers:
    """Return the loss ratio by Eq. 3.

    The paper prints its first line as a product with the jitter, by which no loss would exceed 0.1 %; this is a sum.
    """
    xp, load = state.arrays, state.own + state.others
    dropped = xp.where(state.full & (load > 1), 1 - 1 / xp.maximum(load, 1), 0)
    loss: Numbers = xp.minimum(jitter + dropped, 1 - LOSS_JITTER)
    return loss


def _throughput(state: FilterState[Numbers]) -> Numbers:
    """Return the throughput by Eq. 2, in C. The throughput is above 0."""
    xp, load = state.arrays, state.own + state.others
    free = (load <= 1) & (state.delay == 0)
    share: Numbers = xp.where(free, state.own, state.own / xp.maximum(load, LOSS_JITTER))
    served: Numbers = xp.maximum(share, LOSS_JITTER)
    return served
