"""The particle filter of Learn-to-Probe (Tian et al., EuroSys 2026, section 4): states of a path that are likely, given
what a sender has seen, where others may send, too. Time is in seconds.

Where the paper leaves something open, or what is printed cannot be meant, it says so here (docs/estimates.md).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ccmatic.learning.estimation.signals import Signals

if TYPE_CHECKING:
    from jax import Array

#: Arrays of NumPy; arrays of NumPy or of JAX, for functions and for a class.
NumPy: TypeAlias = NDArray[Any]
Numbers = TypeVar("Numbers", NumPy, "Array")
Column = TypeVar("Column")

#: Table 4: particles; sensitivity to a gap of a delay (1/s), of a throughput or of a loss, as ratios; ranges of the
#: gradient of others' rate (1/s), and of the jitter of delay (s), of rates and of losses.
COUNT = 1000
SENSITIVITY = {"delay": 50.0, "throughput": 10.0, "loss": 10.0}
GRADIENT, DELAY_JITTER, RATE_JITTER, LOSS_JITTER = 1.5, 0.02, 0.05, 0.001

#: Of the first particles, which the paper does not give: the most of a rate in C, own or others', and of a delay in s.
FIRST_RATE, FIRST_DELAY = 2.0, 0.1

#: Percentiles between which a range is said to be (Eq. 9).
PERCENTS = (10, 90)


class Seen(Protocol):
    """The measurements of an interval, as in `Signals`, of one flow or of many."""

    @property
    def rtt(self) -> "float | Array":
        """The RTT in seconds."""
        ...

    @property
    def throughput(self) -> "float | Array":
        """The rate of service."""
        ...

    @property
    def loss(self) -> "float | Array":
        """The share lost."""
        ...


class FilterState(NamedTuple, Generic[Column]):
    """Particles, an array each, of NumPy or JAX: own rate and that of others in C, queueing delay in s, whether the
    queue is full."""

    own: Column
    others: Column
    delay: Column
    full: Column

    def some(self, chosen: Column) -> "FilterState[Column]":
        """Those of a mask, or of numbers."""
        columns: tuple[Any, ...] = self
        return FilterState(*(column[chosen] for column in columns))

    def and_(self, other: "FilterState[Column]") -> "FilterState[Column]":
        """These, then others."""
        return FilterState(*map(self.arrays.concatenate, zip(self, other, strict=True)))

    @property
    def arrays(self) -> Any:
        """The module of its arrays."""
        own: Any = self.own
        return own.__array_namespace__()


def gap_of_all(gaps: Numbers) -> Numbers:
    """The probability that a particle is discarded: it stays if no signal discards it, each of which does with
    gap/(1 + gap). gaps: (signals, particles)."""
    discarded: Numbers = 1 - np.prod(1 / (1 + gaps), axis=0)
    return discarded


def gap_of_one(gaps: Numbers) -> Numbers:
    """The same as Eq. 5 is printed, by which one signal that matches keeps a particle, whatever the others say."""
    discarded: Numbers = np.prod(gaps / (1 + gaps), axis=0)
    return discarded


class ParticleFilter:
    """Estimates of one flow, of which `update` is told the Signals of each interval in turn. state: a FilterState now,
    None before two updates. mismatch: of gaps, with what probability a particle is discarded. alone: the share of the
    first particles in which no others send, whom no transition brings to a halt. bounds: the most throughput and the
    least RTT are bounds, as in Eq. 4, and not differences that count, as in Eq. 5. begun: how often all particles were
    made anew, as none was left."""

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

    def update(self, seen: Signals) -> None:
        """Transition, division, observation, filtering and resampling."""
        self._least_rtt, self._most_rtt = min(self._least_rtt, seen.rtt), max(self._most_rtt, seen.rtt)
        self._most_throughput = max(self._most_throughput, seen.throughput)
        if self._last is not None:
            before = self._first() if self.state is None else self.state
            before, now = self._divided(before, self._moved(before, seen.factor))
            stays = self._random.random(len(now.own)) >= self._mismatch(self._gaps(before, now, seen))
            self.begun += not stays.any()
            self.state = self._resampled(now.some(stays)) if stays.any() else self._first()
        self._last = seen

    def ranges(self) -> dict[str, tuple[float, float]]:
        """From the 10th to the 90th percentile, by the name of a FilterState's column; {} before two updates."""
        if self.state is None:
            return {}
        return {name: tuple(np.percentile(getattr(self.state, name), PERCENTS)) for name in ("own", "others", "delay")}

    def _first(self) -> FilterState[NumPy]:
        most = (FIRST_RATE, FIRST_RATE, FIRST_DELAY)
        own, others, delay = (self._random.uniform(0, each, self._count) for each in most)
        alone = self._random.random(self._count) < self._alone
        return FilterState(own, np.where(alone, 0, others), delay, np.zeros(self._count, bool))

    def _moved(self, before: FilterState[NumPy], factor: float) -> FilterState[NumPy]:
        gradient = self._random.uniform(-GRADIENT, GRADIENT, len(before.own))
        return moved(before, factor, gradient, self._interval)

    def _divided(
        self, before: FilterState[NumPy], now: FilterState[NumPy]
    ) -> tuple[FilterState[NumPy], FilterState[NumPy]]:
        """Of each whose delay is as long as any that was seen, one whose queue is full and one whose is not; of others
        it is not. The same of what they were before."""
        longest = now.delay >= self._most_rtt - self._least_rtt
        split = now._replace(full=longest)
        again = split.some(longest)
        without = again._replace(full=np.zeros(len(again.own), bool))
        return before.and_(before.some(longest)), split.and_(without)

    def _gaps(self, before: FilterState[NumPy], now: FilterState[NumPy], seen: Signals) -> NumPy:
        extremes = self._least_rtt, self._most_throughput
        jitter = [self._random.uniform(0, LOSS_JITTER, len(now.own)) for _ in range(2)]
        assert self._last is not None
        return gaps(before, now, self._last, seen, extremes, jitter, self._bounds)

    def _resampled(self, kept: FilterState[NumPy]) -> FilterState[NumPy]:
        """As many as at first: those kept, and mutations of some of them."""
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
    """A FilterState an interval of so many seconds later: the own rate changes by a factor, and a queue grows by what
    comes less what the link serves. The gradient of others' rate is printed to be of [0, O_j], which would leave them
    no way to slow down; here of [-O_j, O_j]."""
    xp, own = before.arrays, before.own * factor
    others = xp.maximum(0, before.others * (1 + gradient * interval))
    delay = xp.maximum(0, before.delay + (own + others - 1) * interval)
    return FilterState(own, others, xp.where(before.full, xp.minimum(before.delay, delay), delay), before.full)


def gaps(
    before: FilterState[Numbers],
    now: FilterState[Numbers],
    last: Seen,
    seen: Seen,
    extremes: tuple[Numbers | float, Numbers | float],
    jitter: Sequence[Numbers],
    bounds: bool = False,
) -> Numbers:
    """By how much each signal is not what a particle expects, the signals first. before, now: States. last, seen: what
    was seen in their intervals, with rtt, throughput and loss. extremes: the least RTT and the most throughput so far.
    jitter: of the losses now and before, from 0 to LOSS_JITTER. bounds: as a ParticleFilter has it."""
    xp, delay, ratio = now.arrays, SENSITIVITY["delay"], SENSITIVITY["throughput"]
    least_rtt, most_throughput = extremes
    through, kept = _throughput(now), (1 - _loss(now, jitter[0])) / (1 - _loss(before, jitter[1]))
    kept_seen = (1 - seen.loss) / xp.maximum(1 - last.loss, LOSS_JITTER)
    beyond = xp.stack([through - seen.throughput / most_throughput, seen.rtt - least_rtt - now.delay])
    beyond = xp.maximum(0, beyond) if bounds else xp.abs(beyond)
    every: Numbers = xp.stack(
        [
            delay * xp.abs(seen.rtt - last.rtt - (now.delay - before.delay)),
            ratio * xp.abs(seen.throughput / last.throughput - through / _throughput(before)),
            SENSITIVITY["loss"] * xp.abs(kept_seen - kept),
            ratio * beyond[0],
            delay * beyond[1],
        ]
    )
    return every


def _loss(state: FilterState[Numbers], jitter: Numbers) -> Numbers:
    """Eq. 3, whose first line is printed as a product with the jitter, so that no loss would be over 0.1 %; here it is
    the sum."""
    xp, load = state.arrays, state.own + state.others
    dropped = xp.where(state.full & (load > 1), 1 - 1 / xp.maximum(load, 1), 0)
    loss: Numbers = xp.minimum(jitter + dropped, 1 - LOSS_JITTER)
    return loss


def _throughput(state: FilterState[Numbers]) -> Numbers:
    """Eq. 2, in C; above 0."""
    xp, load = state.arrays, state.own + state.others
    free = (load <= 1) & (state.delay == 0)
    share: Numbers = xp.where(free, state.own, state.own / xp.maximum(load, LOSS_JITTER))
    served: Numbers = xp.maximum(share, LOSS_JITTER)
    return served
