"""Read counterexamples, and turn them into links and into jitter patterns for simulated runs.

    python -m benchmarks.lib.counterexamples FOLDER > results/tables/windows.jsonl

This command collects the windows of the proofs in a folder, which `ccmatic prove` made, in one table. Studies and tests
read this table.
"""

import fnmatch
import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

from ccmatic.base import InputError
from ccmatic.networks import trace_export
from ccmatic.networks.traces import Trace

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "results" / "tables" / "windows.jsonl"


def traces(patterns):
    """Return the traces that match some patterns, by path, sorted. The traces are files or lines of the table.

    Args:
        patterns: Patterns of paths, relative to the root of the repository. The paths of the windows of a proof begin
            with `results/proofs/NAME-traces/`.
    """
    texts = {
        str(file.relative_to(ROOT)): file.read_text("utf-8") for pattern in patterns for file in ROOT.glob(pattern)
    }
    for line in map(json.loads, TABLE.read_text("utf-8").splitlines()):
        if any(fnmatch.fnmatch(line["file"], pattern) for pattern in patterns):
            texts.setdefault(line["file"], json.dumps(line["trace"]))
    return {Path(file): Trace.from_json(texts[file], file) for file in sorted(texts, key=Path)}


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
    for file, trace in traces(patterns).items():
        try:
            content, _ = trace_export.export(trace, kind, scale, file)
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


def main():
    """Print the windows of the proofs in a folder, a line for each."""
    (folder,) = map(Path, sys.argv[1:])
    for file in sorted(folder.glob("*-traces/*.json")):
        name = f"results/proofs/{file.parent.name}/{file.name}"
        if not (ROOT / name).exists():
            print(json.dumps({"file": name, "trace": json.loads(file.read_text("utf-8"))}, ensure_ascii=False))


if __name__ == "__main__":
    main()
