"""Fit models to a log: the smallest jitter that explains the log and its windows, and the size of the buffer."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ccmatic.base import InputError, definitions
from ccmatic.contracts import load_definition, load_logs
from ccmatic.fitting.least import least
from ccmatic.fitting.log import NEVER, SECOND, PacketLog
from ccmatic.fitting.rows import rows

#: The default models: those of the paper that have jitter.
MODELS = definitions.chosen("models", "ASKED_OF_LOGS")

#: Nanoseconds of a window that is longer than any log. Larger numbers would not fit.
LONGEST = 2**62

#: The fewest packets that show jitter: a single delay cannot vary.
FEWEST = 2


@dataclass(frozen=True, eq=False)
class Fit:
    """The jitter and link rate that a model needs to explain a log.

    The arrays have one element per window in which at least FEWEST packets were delivered.

    Attributes:
        model: The name of the model.
        jitter: The smallest jitter for the whole log, in seconds.
        rate: The lowest rate C found that needs only this jitter, in bytes per second; inf if every finite rate needs
            more.
        length: The length of a window in seconds.
        numbers: The number of each window. Window 0 begins at the first delivery.
        packets: The packets of each window.
        jitters: The smallest jitter of each window.
        rates: The rate of each window.
    """

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
        """The beginning of each window, in seconds from the first delivery."""
        return self.numbers * self.length

    def within(self, seconds):
        """Return the share of the windows that need at most this jitter; None if there are no windows."""
        return float(np.mean(self.jitters <= seconds)) if len(self.jitters) else None

    def changes(self):
        """Return the factors by which C changes between successive windows that both have a finite C."""
        finite = np.isfinite(self.rates)
        both = (np.diff(self.numbers) == 1) & finite[1:] & finite[:-1]
        return self.rates[1:][both] / self.rates[:-1][both]


@dataclass(frozen=True, eq=False)
class Queues:
    """The bytes that waited at the bottleneck, by a model.

    Attributes:
        model: The name of the model.
        longest: The longest queue of a packet that got through.
        at_losses: The queue before each lost packet.
    """

    model: str
    longest: float
    at_losses: np.ndarray


@dataclass(frozen=True, eq=False)
class Fitted:
    """A log and the results of its fit.

    Attributes:
        log: The PacketLog.
        rtt: R_m in seconds.
        horizon: T.
        fits: One Fit per model.
        queues: The Queues by the first model that has a finite rate and whose logs.py has `departures`. None if there
            is no such model, or no sending time is known.
        offset: With two clocks, by how many seconds the receiver's clock is ahead if R_m is the shortest delay. None
            with one clock.
    """

    log: PacketLog
    rtt: float
    horizon: int
    fits: tuple
    queues: "Queues | None"
    offset: float | None

    @property
    def window(self):
        """The length of a window in seconds."""
        return (self.horizon - 1) * self.rtt


def fit(log, models=MODELS, horizon=10, rtt=None):
    """Fit models to a PacketLog.

    Args:
        log: The PacketLog.
        models: The names of the models.
        horizon: T; a window has T-1 steps.
        rtt: R_m, the length of a step, in seconds; by default the shortest delay in the log.

    Returns:
        The Fitted.

    Raises:
        InputError: The log has fewer than FEWEST delivered packets, it gives no step, or a model's link cannot be
            fitted.
    """
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
    """Return R_m in ns."""
    if rtt is not None:
        step = round(Fraction(rtt) * SECOND)
        problem = "--rtt is too short; expected a nanosecond or more, such as --rtt 40ms"
    else:
        step = 0 if log.two_clocks else log.least_delay() or 0
        problem = "--rtt is missing, and the log does not show the smallest delay; expected such as --rtt 40ms"
    if step < 1:
        raise InputError(problem, log.source)
    return step


def _windows(kept, length):
    """Return the number, start and end of each window that ends before the log does.

    The windows follow one another from the first delivery. A window's packets are those delivered in it.
    """
    number = (kept.delivered - kept.delivered[0]) // min(length, LONGEST)
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    ends = np.append(starts[1:], len(number))
    whole = (ends - starts >= FEWEST) & (number[starts] < number[-1])
    return number[starts[whole]], starts[whole], ends[whole]


def _fit(kept, model, length):
    """Return the Fit of a Model to a log without losses, and to its windows of this length in ns."""
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
    """Return the Queues of the whole log, by the first model that computes departures. `fits`: (Model, Fit) pairs."""
    worlds = ((load_logs(link), fit) for link, fit in fits if np.isfinite(fit.rate))
    world, fit = next(((world, fit) for world, fit in worlds if hasattr(world, "departures")), (None, None))
    dated = kept.sent != NEVER
    if fit is None or not dated.any():
        return None
    left = world.departures(rows(kept, np.array([0]), np.array([len(kept.sent)])), np.array([1 / fit.rate]))[0]
    sent = np.where(dated, (kept.sent - kept.delivered[0]) / SECOND, -np.inf)
    # Packets sent later met a queue that no delivery shows.
    lost = log.sent[log.lost & (log.sent != NEVER) & (log.sent <= kept.sent[-1])]
    lost = (lost - kept.delivered[0]) / SECOND
    before = np.searchsorted(sent, lost, side="right") - 1
    waiting = np.where(before >= 0, np.maximum(0, left[before] - lost), 0)
    return Queues(fit.model, float(np.max((left - sent)[dated])) * fit.rate, waiting * fit.rate)
