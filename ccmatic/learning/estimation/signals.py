"""The signals of Learn-to-Probe, of a trace: of what was sent in each step, once that was served (section 4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ccmatic.contracts import Recorded


@dataclass(frozen=True)
class Signals:
    """Of what was sent in an interval: by what factor that was more than in the interval before; seconds from the
    sending of the last byte to its acknowledgement; at what rate it was served, in any unit; the share that was
    lost."""

    factor: float
    rtt: float
    throughput: float
    loss: float


def signals(trace: Recorded, rtt: float) -> Iterator[Signals | None]:
    """The Signals of step t = 1, 2, … of a trace, as far as what was sent by then was served; rtt: R_m in seconds.
    Within a step all goes evenly. Where nothing was sent, or nothing of it served, there is None."""
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
        begin, end = _reached(S, kept[t - 1]), _reached(S, kept[t])
        yield Signals(*map(float, (sent / before, (end - t + 1) * rtt, through / (end - begin), 1 - through / sent)))


def _reached(S: NDArray[np.float64], level: float) -> float:
    """When service comes to a level, in steps; 0 if it was there at first."""
    after = int(np.searchsorted(S, level))
    if not after:
        return 0.0
    return float(after - 1 + (level - S[after - 1]) / (S[after] - S[after - 1]))
