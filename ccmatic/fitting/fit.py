"""Fit models to a log: the smallest jitter that explains the log and its windows, and the size of the buffer."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from ccmatic import records
from ccmatic.base import InputError, definitions, quantities
from ccmatic.contracts import load_definition, load_logs
from ccmatic.fitting import coverage
from ccmatic.fitting.least import least
from ccmatic.fitting.log import NEVER, SECOND, PacketLog, rows
from ccmatic.fitting.readers import read_log

#: The default models: the models of the paper that have jitter.
MODELS = definitions.chosen("models", "ASKED_OF_LOGS")

#: The length, in ns, of a window that is longer than any log. A larger number would not fit an integer of 64 bits.
LONGEST = 2**62

#: The fewest packets whose delays can show jitter. A single delay cannot vary.
FEWEST = 2


@dataclass(frozen=True, eq=False)
class Fit:
    """The jitter and the link rate with which a model explains a log.

    The arrays have one element per window with at least FEWEST delivered packets.
    """

    model: str  #: The name of the model.
    jitter: float  #: The smallest jitter, in seconds, that explains the whole log.
    #: The lowest rate C that the search found for this jitter, in bytes per second; inf if every finite rate needs more
    #: jitter.
    rate: float
    length: float  #: The length of a window in seconds.
    numbers: np.ndarray  #: The number of each window. Window 0 begins at the first delivery.
    packets: np.ndarray  #: The number of packets in each window.
    jitters: np.ndarray  #: The smallest jitter, in seconds, that explains each window.
    rates: np.ndarray  #: The rate C of each window in bytes per second, found like `rate`.

    @property
    def begin(self):
        """The time at which each window begins, in seconds from the first delivery."""
        return self.numbers * self.length

    def within(self, seconds):
        """Return the share of the windows that need at most `seconds` of jitter; None if the log has no windows."""
        return float(np.mean(self.jitters <= seconds)) if len(self.jitters) else None

    def changes(self):
        """Return the factors by which C changes between successive windows, except windows with an infinite C."""
        finite = np.isfinite(self.rates)
        both = (np.diff(self.numbers) == 1) & finite[1:] & finite[:-1]
        return self.rates[1:][both] / self.rates[:-1][both]


@dataclass(frozen=True, eq=False)
class Queues:
    """The queue at the bottleneck, as a model computes it."""

    model: str  #: The name of the model.
    longest: float  #: The longest queue, in bytes, ahead of a packet that was delivered.
    at_losses: np.ndarray  #: The queue, in bytes, when each lost packet arrived.


@dataclass(frozen=True, eq=False)
class FitResult:
    log: PacketLog  #: The PacketLog.
    rtt: float  #: R_m in seconds.
    horizon: int  #: T; a window has T-1 steps.
    fits: tuple  #: One Fit per model.
    #: The Queues of the first model that has a finite rate and whose logs.py has `departures`. None if there is no such
    #: model, or if the log has no sending times.
    queues: "Queues | None"
    #: The seconds by which the receiver's clock is ahead, if R_m is the shortest delay. None if the log comes from one
    #: clock.
    offset: float | None

    @property
    def window(self):
        """The length of a window in seconds."""
        return (self.horizon - 1) * self.rtt


def fit_file(
    log: str | Path,
    models: Sequence[str] = (),
    *,
    rtt: str | None = None,
    horizon: int = 10,
    two_clocks: bool = False,
    received: str | Path | None = None,
    controllers: Sequence[str] = (),
) -> tuple[FitResult, list[records.GuaranteeLine]]:
    """Find, for each model, the smallest jitter with which a link explains a packet log, and the rate of this link.

    Args:
        log: A packet log (docs/reference/formats.md).
        models: The models whose links are fitted. By default: cbr_delay, ccac, and the models of the controllers'
            proofs.
        rtt: R_m, such as "40ms", which is also the length of a step. By default, the smallest delay in the log.
        horizon: T. A window lasts T-1 steps.
        two_clocks: Whether the clocks of sender and receiver differ by an unknown constant.
        received: The capture at the receiver. If `received` is given, `log` is the capture at the sender.
        controllers: The controllers whose shipped proofs are compared with the path.

    Returns:
        The FitResult, and a GuaranteeLine for each proof of a controller.

    Raises:
        InputError: If the log cannot be read, or a name is unknown.

    Examples:
        >>> fitted, guarantees = cm.fit("examples/links/cellular.mahimahi", rtt="40ms", controllers=["cc_qdel"])
    """
    step = seconds_of(rtt)
    if controllers and not step:
        raise InputError("--controller needs --rtt, R_m: the delays in a log may be those of one direction only")
    packets = read_log(str(log), two_clocks, received)
    fitted = fit(packets, models or dict.fromkeys((*MODELS, *coverage.models(controllers))), horizon, step)
    return fitted, [line for name in controllers for line in coverage.guarantees(name, fitted)]


def seconds_of(rtt):
    """Return R_m in seconds, or None."""
    step = quantities.duration(rtt) if rtt else None
    if step == 0:
        raise InputError(f"the rtt is '{rtt}'; expected more than 0")
    return step


def fit(log, models=MODELS, horizon=10, rtt=None):
    kept = log.kept()
    if len(kept.sent) < FEWEST:
        raise InputError(f"{len(kept.sent)} packet is delivered; expected {FEWEST} at least", log.source)
    step = round_trip(log, rtt)
    links = [load_definition("models", "MODEL", model) for model in models]
    fits = tuple(_fit(kept, link, (horizon - 1) * step) for link in links)
    delay = log.least_delay()
    offset = (delay - step) / SECOND if log.two_clocks and delay is not None else None
    return FitResult(log, step / SECOND, horizon, fits, _queues(log, kept, zip(links, fits, strict=True)), offset)


def round_trip(log, rtt):
    """Return R_m in ns.

    The result is `rtt`, which is in seconds, or the smallest delay in the log if `rtt` is None. May raise InputError.
    """
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
    """Return the number, start and end of each window that ends before the log ends.

    The first window begins at the first delivery, and each further window begins at the end of the previous window. A
    packet belongs to the window in which it is delivered.
    """
    number = (kept.delivered - kept.delivered[0]) // min(length, LONGEST)
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    ends = np.append(starts[1:], len(number))
    whole = (ends - starts >= FEWEST) & (number[starts] < number[-1])
    return number[starts[whole]], starts[whole], ends[whole]


def _fit(kept, model, length):
    """Return the Fit of a Model to a log without losses and to the log's windows of `length` ns."""
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
    """Return the Queues of the log by the first model that computes departures. `fits` has (Model, Fit) pairs."""
    worlds = ((load_logs(link), fit) for link, fit in fits if np.isfinite(fit.rate))
    world, fit = next(((world, fit) for world, fit in worlds if hasattr(world, "departures")), (None, None))
    dated = kept.sent != NEVER
    if fit is None or not dated.any():
        return None
    left = world.departures(rows(kept, np.array([0]), np.array([len(kept.sent)])), np.array([1 / fit.rate]))[0]
    sent = np.where(dated, (kept.sent - kept.delivered[0]) / SECOND, -np.inf)
    # No delivery reveals the queue that later packets met.
    lost = log.sent[log.lost & (log.sent != NEVER) & (log.sent <= kept.sent[-1])]
    lost = (lost - kept.delivered[0]) / SECOND
    before = np.searchsorted(sent, lost, side="right") - 1
    waiting = np.where(before >= 0, np.maximum(0, left[before] - lost), 0)
    return Queues(fit.model, float(np.max((left - sent)[dated])) * fit.rate, waiting * fit.rate)
