"""The particle filter of Learn-to-Probe (Tian et al., EuroSys 2026, section 4). Time is in seconds.

A particle is a likely state of a path, given a sender's observations. Other senders may use the path too. Comments name
the places where the paper leaves something open, or where its printed formula must be an error
(docs/reports/estimates.md).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ccmatic.learning.estimation.signals import Signals

if TYPE_CHECKING:
    from jax import Array

#: Arrays of NumPy; and arrays of either NumPy or JAX, as type variables of functions and of a class.
NumPy: TypeAlias = NDArray[Any]
Numbers = TypeVar("Numbers", NumPy, "Array")
Column = TypeVar("Column")

#: Table 4: the number of particles; the sensitivity to gaps of delay (1/s), of throughput and of loss (ratios); the
#: ranges of the gradient of others' rate (1/s), and of the jitter of delay (s), of rates and of losses.
COUNT = 1000
SENSITIVITY = {"delay": 50.0, "throughput": 10.0, "loss": 10.0}
GRADIENT, DELAY_JITTER, RATE_JITTER, LOSS_JITTER = 1.5, 0.02, 0.05, 0.001

#: Limits of the first particles, which the paper does not give: of a rate, own or others', in C; of a delay in s.
FIRST_RATE, FIRST_DELAY = 2.0, 0.1

#: The percentiles of a range (Eq. 9).
PERCENTS = (10, 90)


class Seen(Protocol):
    """The measurements of an interval, as in `Signals`, for one flow or many."""

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
        """The share of lost bytes."""
        ...


class FilterState(NamedTuple, Generic[Column]):
    """Particles: one array per quantity, of NumPy or JAX.

    Attributes:
        own: The own rate in C.
        others: The rate of others in C.
        delay: The queueing delay in s.
        full: Whether the queue is full.
    """

    own: Column
    others: Column
    delay: Column
    full: Column

    def some(self, chosen: Column) -> "FilterState[Column]":
        """Return the particles of a mask or of indices."""
        columns: tuple[Any, ...] = self
        return FilterState(*(column[chosen] for column in columns))

    def and_(self, other: "FilterState[Column]") -> "FilterState[Column]":
        """Return these particles, followed by others."""
        return FilterState(*map(self.arrays.concatenate, zip(self, other, strict=True)))

    @property
    def arrays(self) -> Any:
        """The module of its arrays."""
        own: Any = self.own
        return own.__array_namespace__()


def gap_of_all(gaps: Numbers) -> Numbers:
    """Return the probability that a particle is discarded.

    A particle stays if no signal discards it. Each signal discards it with probability gap/(1 + gap).

    Args:
        gaps: (signals, particles).
    """
    discarded: Numbers = 1 - np.prod(1 / (1 + gaps), axis=0)
    return discarded


def gap_of_one(gaps: Numbers) -> Numbers:
    """Return the same probability as Eq. 5 is printed.

    By this formula, one matching signal keeps a particle, whatever the other signals are.
    """
    discarded: Numbers = np.prod(gaps / (1 + gaps), axis=0)
    return discarded


class ParticleFilter:
    """Estimates of one flow. `update` takes the Signals of each interval in turn.

    Attributes:
        state: The current FilterState; None before two updates.
        begun: How often the filter drew all particles anew because none was left.
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
        """Begin without particles.

        Args:
            interval: The length of an interval in seconds.
            seed: The seed of everything random.
            count: The number of particles.
            mismatch: A function from gaps to the probability that a particle is discarded.
            alone: The share of the initial particles in which no others send. No transition brings the rate of others
                to 0.
            bounds: Whether the highest throughput and the smallest RTT act as bounds, as in Eq. 4, or as signals whose
                differences count, as in Eq. 5.
        """
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
        """Return the ranges from the 10th to the 90th percentile, by the FilterState's names; {} before two updates."""
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
        """Divide each particle with at least the longest observed delay into one with a full queue and one without.

        The queues of the other particles are not full. Returns the particles before and now, divided equally.
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
        """Return as many particles as at first: the remaining ones, and mutations of some of them."""
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

    The own rate changes by a factor. The queue grows by the arrivals minus what the link serves. The paper prints the
    gradient of others' rate as [0, O_j], but then others could never slow down; here it is [-O_j, O_j].

    Args:
        before: The FilterState.
        factor: The factor by which the sender's own rate is multiplied.
        gradient: The gradient of others' rate, 1/s.
        interval: The length of the interval in seconds.
    """
    xp, own = before.arrays, before.own * factor
    others = xp.maximum(0, before.others * (1 + gradient * interval))
    delay = xp.maximum(0, before.delay + (own + others - 1) * interval)
    return FilterState(own, others, xp.where(before.full, xp.minimum(before.delay, delay), delay), before.full)


def gaps(
    before: FilterState[Numbers],
    now: FilterState[Numbers],
    last: Seen,
    latest: Seen,
    extremes: tuple[Numbers | float, Numbers | float],
    jitter: Sequence[Numbers],
    bounds: bool = False,
) -> Numbers:
    """Return by how much each signal differs from a particle's expectation; signals are the first axis.

    Args:
        before: The FilterState at the interval before.
        now: The FilterState now.
        last: The measurements of the interval before.
        latest: The measurements of the interval.
        extremes: The smallest RTT and the highest throughput so far.
        jitter: The jitter of the losses now and before, from 0 to LOSS_JITTER.
        bounds: See ParticleFilter.
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
    """Return the loss by Eq. 3.

    The paper prints the first line of Eq. 3 as a product with the jitter, but then no loss would exceed 0.1 %. Here the
    line is a sum.
    """
    xp, load = state.arrays, state.own + state.others
    dropped = xp.where(state.full & (load > 1), 1 - 1 / xp.maximum(load, 1), 0)
    loss: Numbers = xp.minimum(jitter + dropped, 1 - LOSS_JITTER)
    return loss


def _throughput(state: FilterState[Numbers]) -> Numbers:
    """Return the throughput by Eq. 2, in C; it is above 0."""
    xp, load = state.arrays, state.own + state.others
    free = (load <= 1) & (state.delay == 0)
    share: Numbers = xp.where(free, state.own, state.own / xp.maximum(load, LOSS_JITTER))
    served: Numbers = xp.maximum(share, LOSS_JITTER)
    return served
