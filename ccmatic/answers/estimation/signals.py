"""The signals of Learn-to-Probe (section 4 of the paper), computed from a trace.

The signals of a step describe the bytes sent in this step. The sender knows the signals as soon as these bytes are
served.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ccmatic.contracts import TraceData


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

    Within a step, all bytes are spread evenly. The function yields None for a step if no byte was sent in this step or
    in the previous step, or if all bytes of the step were lost.

    Args:
        trace: The trace.
        rtt: R_m in seconds.
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
    """Return the time in steps at which service reaches a level; 0 if service starts at or above the level."""
    after = int(np.searchsorted(S, level))
    if not after:
        return 0.0
    return float(after - 1 + (level - S[after - 1]) / (S[after] - S[after - 1]))
