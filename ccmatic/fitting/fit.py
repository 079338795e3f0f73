"""Which executions a log is: the least jitter of all of it and of windows, and what the buffer seems to hold."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ccmatic.base import InputError, definitions
from ccmatic.contracts import load_definition
from ccmatic.fitting.least import least
from ccmatic.fitting.log import NEVER, SECOND, PacketLog
from ccmatic.fitting.rows import departures, rows

#: The models that are fitted unless others are asked for: those of the paper that have jitter.
MODELS = definitions.chosen("models", "ASKED_OF_LOGS")

#: Nanoseconds of a window that is longer than any log; what is more would not fit.
LONGEST = 2**62

#: The fewest packets that tell of jitter: of one delay, none varies.
FEWEST = 2


@dataclass(frozen=True, eq=False)
class Fit:
    """What a model, by its name and that of its bottleneck, needs to explain a log. jitter: seconds, of the whole log;
    rate: C, bytes per second, the least found that gives it, inf if no finite one does. The arrays have an element a
    window in which FEWEST packets or more were delivered: its number, 0 of the one that the first delivery begins; its
    packets; its jitter and rate. length: of a window, in seconds."""

    model: str
    bottleneck: str
    jitter: float
    rate: float
    length: float
    numbers: np.ndarray
    packets: np.ndarray
    jitters: np.ndarray
    rates: np.ndarray

    @property
    def begin(self):
        """When each window begins, in seconds from the first delivery."""
        return self.numbers * self.length

    def within(self, seconds):
        """The share of the windows that need at most so much jitter; None if there are none."""
        return float(np.mean(self.jitters <= seconds)) if len(self.jitters) else None

    def changes(self):
        """By what factor C is another in a window than in the one just before, where both have a finite C."""
        finite = np.isfinite(self.rates)
        both = (np.diff(self.numbers) == 1) & finite[1:] & finite[:-1]
        return self.rates[1:][both] / self.rates[:-1][both]


@dataclass(frozen=True, eq=False)
class Queues:
    """What waited at the bottleneck, in bytes. longest: with a packet that got through; at_losses: before each packet
    that was lost."""

    longest: float
    at_losses: np.ndarray


@dataclass(frozen=True, eq=False)
class Fitted:
    """A log and what was found of it. rtt: R_m in seconds; horizon: T. fits: a Fit a model. queues: of CBR-delay's
    link, or None where it was not fitted, has no finite rate, or no packet is known to have been sent. offset: seconds
    by which the receiver's clock is ahead if R_m is the least delay, of two clocks; else None."""

    log: PacketLog
    rtt: float
    horizon: int
    fits: tuple
    queues: "Queues | None"
    offset: float | None

    @property
    def window(self):
        """Seconds of a window."""
        return (self.horizon - 1) * self.rtt


def fit(log, models=MODELS, horizon=10, rtt=None):
    """Fit models, by their names, to a PacketLog; a Fitted. horizon: T, of windows of T-1 steps; rtt: R_m, a step, in
    seconds; by default the least delay in the log. Raises InputError if the log has fewer than FEWEST packets that were
    delivered, no step can be had from it, or a model's link is none that can be fitted."""
    kept = log.kept()
    if len(kept.sent) < FEWEST:
        raise InputError(f"{len(kept.sent)} packet is delivered; expected {FEWEST} at least", log.source)
    step = _step(log, rtt)
    fits = tuple(_fit(kept, load_definition("models", "MODEL", model), (horizon - 1) * step) for model in models)
    delay = log.least_delay()
    offset = (delay - step) / SECOND if log.two_clocks and delay is not None else None
    return Fitted(log, step / SECOND, horizon, fits, _queues(log, kept, fits), offset)


def _step(log, rtt):
    """R_m in ns."""
    if rtt is not None:
        step = round(Fraction(rtt) * SECOND)
        expected = "a step of at least a nanosecond"
    else:
        step = 0 if log.two_clocks else log.least_delay() or 0
        expected = "--rtt, R_m, as the log does not tell the least delay"
    if step < 1:
        raise InputError(f"no step; expected {expected}", log.source)
    return step


def _windows(kept, length):
    """The stretches of packets that are delivered in each window that is over before the log is, one after another from
    the first delivery on: their numbers, starts and ends."""
    number = (kept.delivered - kept.delivered[0]) // min(length, LONGEST)
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    ends = np.append(starts[1:], len(number))
    told = (ends - starts >= FEWEST) & (number[starts] < number[-1])
    return number[starts[told]], starts[told], ends[told]


def _fit(kept, model, length):
    """The Fit of a Model to a log without losses, and to its windows of so many ns."""
    numbers, starts, ends = _windows(kept, length)
    jitter, rate = least(kept, model, np.array([0]), np.array([len(kept.sent)]))
    jitters, rates = least(kept, model, starts, ends)
    return Fit(
        model.name,
        model.bottleneck,
        jitter=float(jitter[0]),
        rate=float(rate[0]),
        length=length / SECOND,
        numbers=numbers,
        packets=ends - starts,
        jitters=jitters,
        rates=rates,
    )


def _queues(log, kept, fits):
    """The Queues of a log, as the whole of it is on a link of fixed rate."""
    found = next((fit.rate for fit in fits if fit.bottleneck == "fixed rate" and np.isfinite(fit.rate)), None)
    known = kept.sent != NEVER
    if found is None or not known.any():
        return None
    left = departures(rows(kept, np.array([0]), np.array([len(kept.sent)])), np.array([1 / found]))[0]
    sent = np.where(known, (kept.sent - kept.delivered[0]) / SECOND, -np.inf)
    # What was sent later met a queue that no delivery shows.
    lost = log.sent[log.lost & (log.sent != NEVER) & (log.sent <= kept.sent[-1])]
    lost = (lost - kept.delivered[0]) / SECOND
    before = np.searchsorted(sent, lost, side="right") - 1
    waiting = np.where(before >= 0, np.maximum(0, left[before] - lost), 0)
    return Queues(float(np.max((left - sent)[known])) * found, waiting * found)
