"""Prove guarantees by windows and by invariants in one run, and print the CPU seconds of both with their ratio.

    python -m benchmarks.studies.invariants_and_windows [NAME…] [--seconds N]

A row is a controller. Its windowed proof finds all constants to their edge, with an author's states and measures. The
invariants need an expectation instead, and no author. The ratio divides the seconds of the windowed proof by those of
an expectation. An expectation that stays unknown has no ratio.
"""

import argparse
from dataclasses import dataclass
from time import process_time

import ccmatic as cm

INFINITE = "ccac, buffer infinite, jitter 1 rtt"
TENTH = "ccac 12 mbit, rtt 10 ms, packet 1500, buffer infinite, jitter 10 ms"
ORACLE = "ccac2021:detection=oracle,timer=executions,loss=deterministic,begins=anywhere,delay=none, buffer 1 bdp"
TENTH_OF_AIMD = (
    "ccac2021 12 mbit, detection=oracle, timer=executions, loss=deterministic, begins=anywhere, delay=none, rtt 10 ms, "
    "buffer 1 bdp, jitter 10 ms"
)


@dataclass(frozen=True)
class Row:
    """A controller with its windowed proof, and with expectations that invariants may prove.

    Attributes:
        name: The controller.
        proof: The name of the proof.
        windowed: The controller of the proof.
        horizon: The number of steps of a window.
        expected: Expectations, each with its network and its start; None is the default start.
    """

    name: str
    proof: str
    windowed: str
    horizon: int
    expected: tuple[tuple[str, str, str | None], ...]


STALE = "queue <= 2 bdp and C_L >= 25%"

ROWS = (
    Row(
        "cc_qdel",
        "cc_qdel",
        "cc_qdel",
        10,
        (
            ("queue <= 10 bdp", INFINITE, None),
            ("queue <= 7 bdp", INFINITE, None),
            ("utilisation >= 1/2", INFINITE, None),
            ("utilisation >= 3/4", INFINITE, None),
            ("C_L >= 50% within 10 rtt", INFINITE, STALE),
            ("C_L >= 69% within 20 rtt", INFINITE, STALE),
        ),
    ),
    Row(
        "aimd_each_step",
        "aimd_any_start",
        "aimd_any_start",
        10,
        (
            ("window <= 3.2 bdp", ORACLE, None),
            ("converged within 16 rtt", TENTH_OF_AIMD, "queue <= 1 bdp and window <= 4 bdp"),
        ),
    ),
    Row(
        "copa",
        "copa_any_start",
        "copa_any_start",
        14,
        (
            ("queue <= 5 bdp", INFINITE, None),
            ("queue <= 8 bdp", INFINITE, None),
            ("utilisation >= 1/10", TENTH, None),
        ),
    ),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=300, help="the budget of an expectation")
    given = parser.parse_args()
    for row in ROWS:
        if given.names and row.name not in given.names:
            continue
        begin = process_time()
        proved = cm.prove(row.windowed, row.proof, horizon=row.horizon)
        windows = process_time() - begin
        constants = ", ".join(f"{name} {value}" for name, value in proved.constants.items())
        print(f"| {row.name} | windows: {row.proof}, T = {row.horizon} | {constants} | {windows:.1f} | |", flush=True)
        for expect, on, start in row.expected:
            begin = process_time()
            verdict = cm.prove_by_invariant(row.name, on, expect, start=start, seconds=given.seconds, jobs=1).verdict
            spent = process_time() - begin
            ratio = f"{windows / spent:.0f}" if verdict == "proved" else ""
            about = f"{expect}, {start}" if start else expect
            print(f"| {row.name} | {about} | {verdict} | {spent:.1f} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
