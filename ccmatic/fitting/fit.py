"""Which executions a log is: the least jitter of all of it and of windows, and what the buffer seems to hold."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ccmatic.base import InputError, definitions
from ccmatic.contracts import load_definition, load_logs
from ccmatic.fitting.least import least
from ccmatic.fitting.log import NEVER, SECOND, PacketLog
from ccmatic.fitting.rows import rows

#: The models that are fitted unless others are asked for: those of the paper that have jitter.
MODELS = definitions.chosen("models", "ASKED_OF_LOGS")

#: Nanoseconds of a window that is longer than any log; what is more would not fit.
LONGEST = 2**62

#: The fewest packets that tell of jitter: of one delay, none varies.
FEWEST = 2


@dataclass(frozen=True, eq=False)
class Fit:
    """What a model, by its name, needs to explain a log. jitter: seconds, of the whole log; rate: C, bytes per second,
    the least found that gives it, inf if no finite one does. The arrays have an element a window in which FEWEST
    packets or more were delivered: its number, 0 of the one that the first delivery begins; its packets; its jitter and
    rate. length: of a window, in seconds."""

    model: str
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
    """Bytes that waited at the bottleneck, by a model, by its name. longest: with a packet that got through; at_losses:
    before each packet that was lost."""

    model: str
    longest: float
    at_losses: np.ndarray


@dataclass(frozen=True, eq=False)
class Fitted:
    """A log and what was found of it. rtt: R_m in seconds; horizon: T. fits: a Fit a model. queues: by the
    first model of finite rate whose logs.py has `departures`; None if there is none, or no sending time is known.
    offset: seconds by which the receiver's clock is ahead if R_m is the least delay, of two clocks; else None."""

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
    links = [load_definition("models", "MODEL", model) for model in models]
    fits = tuple(_fit(kept, link, (horizon - 1) * step) for link in links)
    delay = log.least_delay()
    offset = (delay - step) / SECOND if log.two_clocks and delay is not None else None
    return Fitted(log, step / SECOND, horizon, fits, _queues(log, kept, zip(links, fits, strict=True)), offset)


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
    whole = (ends - starts >= FEWEST) & (number[starts] < number[-1])
    return number[starts[whole]], starts[whole], ends[whole]


def _fit(kept, model, length):
    """The Fit of a Model to a log without losses, and to its windows of so many ns."""
    numbers, starts, ends = _windows(kept, length)
    jitter, rate = least(kept, model, np.array([0]), np.array([len(kept.sent)]))
    jitters, rates = least(kept, model, starts, ends)
    return Fit(
        model.name,
        jitter=float(jitter[0]),
        rate=float(rate[0]),
        length=length / SECOND,
        numbers=numbers,
        packets=ends - starts,
        jitters=jitters,
        rates=rates,
    )


def _queues(log, kept, fits):
    """The Queues of a log: the whole of it on the first link that says when packets leave it. fits: (Model, Fit)."""
    worlds = ((load_logs(link), fit) for link, fit in fits if np.isfinite(fit.rate))
    world, fit = next(((world, fit) for world, fit in worlds if hasattr(world, "departures")), (None, None))
    dated = kept.sent != NEVER
    if fit is None or not dated.any():
        return None
    left = world.departures(rows(kept, np.array([0]), np.array([len(kept.sent)])), np.array([1 / fit.rate]))[0]
    sent = np.where(dated, (kept.sent - kept.delivered[0]) / SECOND, -np.inf)
    # What was sent later met a queue that no delivery shows.
    lost = log.sent[log.lost & (log.sent != NEVER) & (log.sent <= kept.sent[-1])]
    lost = (lost - kept.delivered[0]) / SECOND
    before = np.searchsorted(sent, lost, side="right") - 1
    waiting = np.where(before >= 0, np.maximum(0, left[before] - lost), 0)
    return Queues(fit.model, float(np.max((left - sent)[dated])) * fit.rate, waiting * fit.rate)
