"""Counterexamples that are shipped, as links."""

from fractions import Fraction
from pathlib import Path

from ccmatic import trace_export
from ccmatic.base import InputError
from ccmatic.traces import Trace

ROOT = Path(__file__).resolve().parent.parent


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
