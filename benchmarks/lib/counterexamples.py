"""Turn shipped counterexamples into links, and into jitter patterns for simulated runs."""

from fractions import Fraction
from pathlib import Path

import numpy as np

from ccmatic.base import InputError
from ccmatic.networks import trace_export
from ccmatic.networks.traces import Trace

ROOT = Path(__file__).resolve().parents[2]


def exported(patterns, kind, mbit, rtt_ms, folder):
    """Export the repository's traces that match some patterns, and return the paths of the exported files.

    The function skips traces that cannot be exported at this scale, for example because their buffer is smaller than a
    packet.

    Args:
        patterns: Patterns of paths, relative to the root of the repository.
        kind: The name of the export format.
        mbit: The rate of the link in Mbit/s.
        rtt_ms: The propagation delay R_m in ms.
        folder: The folder for the exported files.
    """
    scale = trace_export.Scale(Fraction(mbit * 125_000), Fraction(rtt_ms, 1000), 1500)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for file in sorted({file for pattern in patterns for file in ROOT.glob(pattern)}):
        try:
            content, _ = trace_export.export(Trace.load(file), kind, scale, file)
        except InputError:
            continue
        paths.append(folder / f"{file.parent.name}-{file.stem}.{kind}")
        paths[-1].write_bytes(content)
    return paths


def held(instants, admitted, served, end, bound):
    """Return, for each instant, the time for which the link holds bytes behind its bottleneck, as a share of `bound`.

    The link holds bytes until the first instant at which it has served all bytes that were admitted at the given
    instant. Without such an instant, the link holds the bytes until `end`.

    Args:
        instants: The instants.
        admitted: The bytes admitted by each instant.
        served: The bytes served by each instant.
        end: The end of the last interval.
        bound: The largest jitter D.
    """
    until = np.append(instants, end)[np.searchsorted(served, admitted)]
    return np.clip((until - instants) / bound, 0, 1)


def holding(shares, parts):
    """Return the jitter pattern of a Simulation that holds bytes for the given shares of D.

    A step consists of `parts` equal intervals, and each share applies to one interval. After the last share, the
    sequence repeats.
    """
    return lambda rng, bound, step: lambda now: now + int(shares[now * parts // step % len(shares)] * bound)
