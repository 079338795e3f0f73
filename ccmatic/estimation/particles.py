"""The particle filter of Learn-to-Probe (Tian et al., EuroSys 2026, section 4): states of a path that are likely, given
what a sender has seen, where others may send, too. Time is in seconds.

Where the paper leaves something open, or what is printed cannot be meant, it says so here (docs/estimates.md).
"""

from dataclasses import dataclass

import numpy as np

#: Table 4: particles; sensitivity to a gap of a delay (1/s), of a throughput or of a loss, as ratios; ranges of the
#: gradient of others' rate (1/s), and of the jitter of delay (s), of rates and of losses.
COUNT = 1000
SENSITIVITY = {"delay": 50.0, "throughput": 10.0, "loss": 10.0}
GRADIENT, DELAY_JITTER, RATE_JITTER, LOSS_JITTER = 1.5, 0.02, 0.05, 0.001

#: Of the first particles, which the paper does not give: the most of a rate in C, own or others', and of a delay in s.
FIRST_RATE, FIRST_DELAY = 2.0, 0.1

#: Percentiles between which a range is said to be (Eq. 9).
PERCENTS = (10, 90)


@dataclass(frozen=True)
class State:
    """Particles, an array each: own rate and that of others in C, queueing delay in s, whether the queue is full."""

    own: np.ndarray
    others: np.ndarray
    delay: np.ndarray
    full: np.ndarray

    def __len__(self):
        return len(self.own)

    def some(self, chosen):
        """Those of a mask, or of numbers."""
        return State(*(column[chosen] for column in (self.own, self.others, self.delay, self.full)))

    def and_(self, other):
        """These, then others."""
        columns = ((getattr(self, name), getattr(other, name)) for name in ("own", "others", "delay", "full"))
        return State(*map(np.concatenate, columns))


def gap_of_all(gaps):
    """The probability that a particle is discarded: it stays if no signal discards it, each of which does with
    gap/(1 + gap). gaps: (signals, particles)."""
    return 1 - np.prod(1 / (1 + gaps), axis=0)


def gap_of_one(gaps):
    """The same as Eq. 5 is printed, by which one signal that matches keeps a particle, whatever the others say."""
    return np.prod(gaps / (1 + gaps), axis=0)


class ParticleFilter:
    """Estimates of one flow, of which `update` is told the Signals of each interval in turn. state: a State now, None
    before two updates. mismatch: of gaps, with what probability a particle is discarded. alone: the share of the first
    particles in which no others send, whom no transition brings to a halt. bounds: the most throughput and the least
    RTT are bounds, as in Eq. 4, and not differences that count, as in Eq. 5. begun: how often all particles were made
    anew, as none was left."""

    def __init__(self, interval, seed=0, count=COUNT, mismatch=gap_of_all, alone=0.5, bounds=False):
        self._interval, self._count, self._mismatch = interval, count, mismatch
        self._alone, self._bounds = alone, bounds
        self._random = np.random.default_rng(seed)
        self._last = self.state = None
        self._least_rtt, self._most_rtt, self._most_throughput, self.begun = np.inf, 0.0, 0.0, 0

    def update(self, seen):
        """Transition, division, observation, filtering and resampling."""
        self._least_rtt, self._most_rtt = min(self._least_rtt, seen.rtt), max(self._most_rtt, seen.rtt)
        self._most_throughput = max(self._most_throughput, seen.throughput)
        if self._last is not None:
            before = self._first() if self.state is None else self.state
            before, now = self._divided(before, self._moved(before, seen.factor))
            stays = self._random.random(len(now)) >= self._mismatch(self._gaps(before, now, seen))
            self.begun += not stays.any()
            self.state = self._resampled(now.some(stays)) if stays.any() else self._first()
        self._last = seen

    def ranges(self):
        """From the 10th to the 90th percentile, by the name of a State's column; {} before two updates."""
        if self.state is None:
            return {}
        return {name: tuple(np.percentile(getattr(self.state, name), PERCENTS)) for name in ("own", "others", "delay")}

    def _first(self):
        most = (FIRST_RATE, FIRST_RATE, FIRST_DELAY)
        own, others, delay = (self._random.uniform(0, each, self._count) for each in most)
        alone = self._random.random(self._count) < self._alone
        return State(own, np.where(alone, 0, others), delay, np.zeros(self._count, bool))

    def _moved(self, before, factor):
        """A queue grows by what comes less what the link serves. The gradient is printed to be of [0, O_j], which would
        leave others no way to slow down; here of [-O_j, O_j]."""
        own = before.own * factor
        gradient = self._random.uniform(-GRADIENT, GRADIENT, len(before))
        others = np.maximum(0, before.others * (1 + gradient * self._interval))
        delay = np.maximum(0, before.delay + (own + others - 1) * self._interval)
        return State(own, others, np.where(before.full, np.minimum(before.delay, delay), delay), before.full)

    def _divided(self, before, now):
        """Of each whose delay is as long as any that was seen, one whose queue is full and one whose is not; of others
        it is not. The same of what they were before."""
        longest = now.delay >= self._most_rtt - self._least_rtt
        split = State(now.own, now.others, now.delay, longest)
        again = split.some(longest)
        without = State(again.own, again.others, again.delay, np.zeros(len(again), bool))
        return before.and_(before.some(longest)), split.and_(without)

    def _gaps(self, before, now, seen):
        """By how much each signal is not what a particle expects, (signals, particles)."""
        last, delay, ratio = self._last, SENSITIVITY["delay"], SENSITIVITY["throughput"]
        through, kept = _throughput(now), (1 - self._loss(now)) / (1 - self._loss(before))
        kept_seen = (1 - seen.loss) / max(1 - last.loss, LOSS_JITTER)
        too_much = through - seen.throughput / self._most_throughput
        too_short = seen.rtt - self._least_rtt - now.delay
        beyond = np.maximum(0, (too_much, too_short)) if self._bounds else np.abs((too_much, too_short))
        return np.stack(
            [
                delay * np.abs(seen.rtt - last.rtt - (now.delay - before.delay)),
                ratio * np.abs(seen.throughput / last.throughput - through / _throughput(before)),
                SENSITIVITY["loss"] * np.abs(kept_seen - kept),
                ratio * beyond[0],
                delay * beyond[1],
            ]
        )

    def _loss(self, state):
        """Eq. 3, whose first line is printed as a product with the jitter, so that no loss would be over 0.1 %; here it
        is the sum."""
        load = state.own + state.others
        jitter = self._random.uniform(0, LOSS_JITTER, len(state))
        return np.minimum(jitter + np.where(state.full & (load > 1), 1 - 1 / np.maximum(load, 1), 0), 1 - LOSS_JITTER)

    def _resampled(self, kept):
        """As many as at first: those kept, and mutations of some of them."""
        if len(kept) >= self._count:
            return kept.some(self._random.choice(len(kept), self._count, replace=False))
        chosen = kept.some(self._random.integers(len(kept), size=self._count - len(kept)))
        own, others = self._random.uniform(1 - RATE_JITTER, 1 + RATE_JITTER, (2, len(chosen)))
        shifted = chosen.delay + self._random.uniform(-DELAY_JITTER, DELAY_JITTER, len(chosen))
        return kept.and_(State(chosen.own * own, chosen.others * others, np.maximum(0, shifted), chosen.full))


def _throughput(state):
    """Eq. 2, in C; above 0."""
    load = state.own + state.others
    free = (load <= 1) & (state.delay == 0)
    return np.maximum(np.where(free, state.own, state.own / np.maximum(load, LOSS_JITTER)), LOSS_JITTER)
