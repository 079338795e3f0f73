"""Reported worst values against executions: none is worse than what the product says that none is."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import ccmatic as cm
from ccmatic.answers.worst_case import NoExecution

from .runs import NETWORKS, Run
from .writing import Written

LONG_DELAY = """
pace: rate = anything()

def update(pace, delay, line_rate, R_m):
    if delay > 6 * R_m:
        pace = line_rate / 50
    else:
        pace = 0 * line_rate

def send(pace):
    return pace
# sends a rate
"""

KEEPS_QUEUE = """
window: bytes = above(0)

def update(window, delay, line_rate, MSS, R_m):
    if delay > 2 * R_m:
        window = line_rate * R_m / 20
    else:
        window = MSS

def send(window):
    return window
"""

STOPS = """
pace: rate = anything()

def update(pace, acked, line_rate, MSS, R_m, step):
    if acked > acked[step]:
        pace = line_rate / 100
    else:
        pace = 0 - MSS / R_m

def send(pace):
    return pace
# sends a rate
"""

CAPPED_RENO = """
window: bytes = above(0)
recover: bytes = 0
credit: bytes = 0

def update(window, credit, recover, acked, lost, sent, timeout, MSS, step):
    more = acked - acked[step]
    if timeout:
        window = MSS
        credit = 0
        recover = sent + 3 * MSS
    elif lost > lost[step] and acked[step] + lost[step] >= recover:
        window = max(window / 2, 2 * MSS)
        credit = 0
        recover = sent + 3 * MSS
    elif credit + more >= window:
        credit = credit + more - window
        window = min(window + MSS, 8 * MSS)
    else:
        credit = credit + more

def send(window, MSS):
    return min(window, 8 * MSS)
"""

CONSTANT = """
def send(MSS):
    return 8 * MSS
"""

BELIEVES = """
def send(C_L, R_m, MSS):
    return 2 * C_L * R_m + MSS
"""

QDEL = """
def rate(C_L, qdel_L):
    if qdel_L > 0:
        return C_L / 2
    return 2 * C_L
"""

QDEL_LONG = """
def rate(C_L, qdel_L, R_m):
    if qdel_L > 5 * R_m:
        return 3 * C_L
    return C_L / 2
"""


@dataclass(frozen=True)
class Case:
    """A quantity of a controller on a network, whose worst value is sought.

    Attributes:
        given: A condition on the packet only.
        packet: MSS of the executions.
        period: The period of the executions; None for any.
    """

    name: str
    source: str
    network: str
    buffer: str
    horizon: int
    of: str
    packet: str = "1/10"
    given: str = "alpha == 1/10"
    period: int | None = None
    resolution: str = "1/4"

    @property
    def asked(self):
        """The name of the quantity, or a condition on x."""
        return SENT if self.of == "sent" else self.of


#: How much was sent after the first step.
SENT = "A[T-1] - A[1] > x"

CASES = (
    Case("window of 8 packets", CONSTANT, "ccac_windows", "infinite", 4, "window"),
    Case("utilisation of 8 packets", CONSTANT, "ccac_windows", "1/2", 5, "utilisation"),
    Case("loss of 8 packets", CONSTANT, "cbr_delay_windows", "1/2", 5, "loss"),
    Case("a rate below 0", STOPS, "ccac_windows", "infinite", 5, "utilisation"),
    Case("sent for a long delay", LONG_DELAY, "cbr_delay_windows", "infinite", 5, "sent"),
    Case("window for a long delay", KEEPS_QUEUE, "ccac_windows", "infinite", 4, "window"),
    Case("window by belief", BELIEVES, "ccac_windows", "1", 5, "window"),
    Case("loss of cc_qdel", QDEL, "ccac", "1", 4, "loss"),
    Case("queue of cc_qdel", QDEL, "cbr_delay", "1", 4, "queue"),
    Case("delay of cc_qdel", QDEL, "ccac", "2", 5, "delay", resolution="1"),
    Case("delay on an infinite buffer", QDEL, "cbr_delay", "infinite", 5, "delay", resolution="1"),
    Case("sent for a long wait", QDEL_LONG, "cbr_delay", "infinite", 5, "sent"),
)


@lru_cache(maxsize=256)
def worst(case):
    """Return (limit, side): no execution is beyond the limit, and a value on that side of another is worse.

    The limit is None if no limit is reported. The result is None if no execution exists at all.
    """
    side = "below" if case.of == "utilisation" else "above"
    try:
        return _asked(case).none, side
    except NoExecution:
        return None


def _asked(case):
    return cm.worst(
        case.source,
        cm.Network(case.network, buffer=case.buffer, horizon=case.horizon),
        case.asked,
        given=case.given,
        period=case.period,
        resolution=case.resolution,
        high=None if case.of in ("utilisation", "delay") else 12,
    )


def is_worse(bad, told):
    """Whether a value is worse than what `worst` told of a case."""
    if told is None:
        return True
    none, side = told
    return none is not None and ((bad < none) if side == "below" else (bad > none))


def value(case, window):
    """Return how bad a window is, as docs/reference/worst.md defines it; for a delay, over all its bytes."""
    columns, T = window.columns, window.horizon
    A, S, L = (columns[name] for name in "ASL")
    match case.of:
        case "utilisation":
            return (S[-1] - S[0]) / (T - 1)
        case "loss":
            return max(L[t] - L[t - 1] for t in range(1, T))
        case "queue":
            return max(A[t] - L[t] - S[t] for t in range(T))
        case "window":
            return max(columns["cwnd"])
        case "sent":
            return A[-1] - A[1]
        case "delay":
            return max(_steps_beyond(window.run.path, n) for n in range(window.begin, window.begin + T))
    raise ValueError(case.of)


def _steps_beyond(path, n):
    """More whole steps than this the last byte sent by n takes to be served: as far as the run shows."""
    sent, served = path.all_admitted(n), path.served
    return next((m - n for m in range(n, len(served)) if served[m] >= sent), len(served) - n)


def worse_windows(case, runs, seed=0, least=0):
    """Return the number of windows in many runs, and those that are worse than the reported worst value."""
    told, found, count = worst(case), [], 0
    for number in range(runs):
        buffer = None if case.buffer == "infinite" else Fraction(case.buffer)
        given = {"packet": Fraction(case.packet), "buffer": buffer, "D": 1}
        run = Run(NETWORKS[case.network], seed + number, 30, case.horizon, [Written(case.source)], **given)
        for begin in list(run.begins_at())[least:]:
            window = run.window(begin)
            count += 1
            if is_worse(value(case, window), told):
                found.append(window)
    return count, found
