"""Prove shipped controllers by inductive invariants, and print the table of docs/reports/invariants.md.

    python -m benchmarks.studies.invariants FOLDER [NAME…] [--seconds N]

A row of the table is a controller, a network and bounds, the tightest first. For each bound, the command searches for
an invariant, and then for an execution that refutes the bound. A proved bound is accepted by its certificates, by Z3
and by cvc5. FOLDER keeps the outcome of each bound as a line of JSON, and a second run continues after the last line.
NAME selects the rows of some controllers.
"""

import argparse
import json
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

from ccmatic.base import InputError
from ccmatic.invariants import asked, decide, is_accepted

INFINITE = "ccac, buffer infinite, jitter 1 rtt"
FINITE = "ccac, buffer 1 bdp, jitter 1 rtt"
TENTH = "ccac 12 mbit, rtt 10 ms, packet 1500, buffer infinite, jitter 10 ms"
ORACLE = "ccac2021:detection=oracle,timer=executions,loss=deterministic,begins=anywhere,delay=none"

QUEUE = ("queue <= 7 bdp", "queue <= 10 bdp")
USED = ("utilisation >= 3/4", "utilisation >= 1/2")
LITTLE = ("utilisation >= 1/10",)

#: The rows: controllers, a network, and the bounds, the tightest first.
ROWS = [
    (("cc_qdel",), INFINITE, ("queue <= 6.5 bdp", "queue <= 7 bdp")),
    (("cc_qdel",), INFINITE, ("utilisation >= 4/5", *USED)),
    (("cc_qdel",), "ccac, buffer infinite, jitter 2 rtt", ("queue <= 20 bdp",)),
    (("cc_qdel",), "ccac, buffer infinite, jitter 2 rtt", ("utilisation >= 1/2 within 16",)),
    (("aimd_each_step",), f"{ORACLE}, buffer 1/2 bdp", ("window <= 2.5 bdp", "window <= 2.7 bdp")),
    (("aimd_each_step",), f"{ORACLE}, buffer 1 bdp", ("window <= 3.1 bdp", "window <= 3.2 bdp")),
    (("aimd_each_step",), f"{ORACLE}, buffer 1 bdp", ("utilisation >= 1/2",)),
    (("copa", "vegas"), INFINITE, ("queue <= 4 bdp", "queue <= 8 bdp")),
    (("copa", "vegas"), TENTH, LITTLE),
    (
        ("g1_t11_1", "g3_1", "g5_any_3", "g7_nested_2", "cc_probe_qdel", "cc_qdel_narrow", "cc_qdel_wide"),
        INFINITE,
        QUEUE,
    ),
    (
        ("g1_t11_1", "g3_1", "g5_any_3", "g7_nested_2", "cc_probe_qdel", "cc_qdel_narrow", "cc_qdel_wide"),
        INFINITE,
        USED,
    ),
    (("g6_1", "cc_probe_slow"), "cbr_delay, buffer infinite, jitter 1 rtt", QUEUE),
    (("aimd", "reno", "cubic", "bbr", "bbr_v1", "lp", "illinois"), FINITE, ("window <= 10 bdp",)),
]


def main() -> None:
    """Fill the folder, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    file = given.folder / "invariants.jsonl"
    known = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {(each["name"], each["on"], each["expect"]): each for each in known}
    for name, on, bounds in _rows(given.names):
        tried = []
        for expect in bounds:
            if (name, on, expect) not in done:
                print(f"{name}: {expect}", file=sys.stderr, flush=True)
                done[name, on, expect] = outcome = tested(name, on, expect, given.seconds)
                with file.open("a") as lines:
                    lines.write(json.dumps(outcome) + "\n")
            tried.append(done[name, on, expect])
            if tried[-1]["verdict"] == "proved":
                break
        print(row(tried), flush=True)


def _rows(names: list[str]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for several, on, bounds in ROWS:
        yield from ((name, on, bounds) for name in several if not names or name in names)


def tested(name: str, on: str, expect: str, seconds: float) -> dict[str, Any]:
    """Return the outcome for a bound: the verdict, CPU seconds of this process, peak memory, and the evidence."""
    begin = process_time()
    found: dict[str, Any] = {"name": name, "on": on, "expect": expect}
    try:
        decided = decide(asked(name, on, expect), seconds, jobs=1)
    except InputError as error:
        return {**found, "verdict": "unknown", "seconds": process_time() - begin, "evidence": error.message}
    verdict, evidence, check = decided.verdict, decided.why, None
    if decided.proved and decided.proved.invariant:
        invariant = decided.proved.invariant
        before = process_time()
        fault = invariant.fault()
        check = process_time() - before
        refusing = [solver for solver in ("z3", "cvc5") if not is_accepted(invariant, solver)]
        evidence = f"{len(invariant.clauses)} clauses"
        if fault or refusing:
            verdict, evidence = "unknown", f"refused: {fault or ', '.join(refusing)}"
    elif decided.trace is not None:
        repeats = f", which repeats every {decided.period} R_m for ever" if decided.period else ""
        evidence = f"an execution of {decided.trace.horizon - 1} steps{repeats}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    spent = process_time() - begin
    return {**found, "verdict": verdict, "seconds": spent, "check": check, "MiB": peak, "evidence": evidence}


def row(tried: list[dict[str, Any]]) -> str:
    """Return a row of the table: the last bound that was tried, and what became of the tighter ones."""
    last, tighter = tried[-1], [f"{each['expect']}: {each['verdict']}" for each in tried[:-1]]
    check = f"{last['check']:.2f}" if last.get("check") is not None else ""
    evidence = "; ".join((last["evidence"], *tighter))
    cells = (last["name"], last["on"], last["expect"], last["verdict"], f"{last['seconds']:.1f}", check, evidence)
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
