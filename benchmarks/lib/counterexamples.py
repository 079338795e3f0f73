"""Counterexamples that are shipped, as links, and as delays of simulated runs."""

from fractions import Fraction
from pathlib import Path

import numpy as np

from ccmatic import trace_export
from ccmatic.base import InputError
from ccmatic.traces import Trace

ROOT = Path(__file__).resolve().parents[2]


def exported(patterns, kind, mbit, rtt_ms, folder):
    """The paths of all traces in the repository that match patterns, exported in a format, sorted; they are written to
    a folder. Those are left out that have no such export at this scale, such as those of a buffer below a packet."""
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
    """What is held back behind a bottleneck at each of some instants, as shares of a bound: until what it has admitted
    by then is served, or, if that is later than the last of them, until the end."""
    until = np.append(instants, end)[np.searchsorted(served, admitted)]
    return np.clip((until - instants) / bound, 0, 1)


def holding(shares, parts):
    """The jitter of a Simulation that holds such shares of D in the parts of a step, so many each, over and over."""
    return lambda rng, bound, step: lambda now: now + int(shares[now * parts // step % len(shares)] * bound)
