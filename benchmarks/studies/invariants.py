"""Prove shipped controllers by inductive invariants, and print the table of docs/reports/invariants.md.

    python -m benchmarks.studies.invariants FOLDER [NAME…] [--seconds N]

A row of the table is a controller, a network and bounds, the tightest first. For each bound, the command searches for
an invariant, and then for an execution that refutes the bound. A proved bound is accepted by its certificates, by Z3
and by cvc5. Each bound has a process of its own, whose CPU seconds and peak memory the table reports. FOLDER keeps the
outcome of each bound as a line of JSON, and a second run continues after the last line. NAME selects the rows of some
controllers. The option --seconds is the budget of each of the two searches.
"""

import argparse
import json
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import process_time
from typing import Any

from ccmatic.base import InputError
from ccmatic.logic import isolated
from ccmatic.logic.solving import UNSAT, SolverOptions
from ccmatic.proving import prove_by_invariant
from ccmatic.proving.expectations import Decided, asked, claim_of
from ccmatic.proving.invariants import Answer
from ccmatic.proving.invariants.forms import checker_of
from ccmatic.proving.invariants.proof import prove
from ccmatic.proving.invariants.saved import Invariant, implications_of

INFINITE = "ccac, buffer infinite, jitter 1 rtt"
FINITE = "ccac, buffer 1 bdp, jitter 1 rtt"
LATER = "ccac, buffer infinite, jitter 2 rtt"
TENTH = "ccac 12 mbit, rtt 10 ms, packet 1500, buffer infinite, jitter 10 ms"
FIXED = "cbr_delay, buffer infinite, jitter 1 rtt"
MARKS = "marking, buffer 1 bdp, threshold 1/2 bdp"

#: AIMD's network: losses are detected a step later. A packet of 1500 bytes is C·R_m/10 at 12 Mbit/s, C·R_m/20 at 24.
ORACLE = "detection=oracle,timer=executions,loss=deterministic,begins=anywhere,delay=none"
ANY = f"ccac2021:{ORACLE}"
TENTHS, TWENTIETHS, FORTIETHS = (
    f"ccac2021 {rate} mbit:{ORACLE}, rtt 10 ms, jitter 10 ms, packet 1500, buffer" for rate in (12, 24, 48)
)

QUEUE = ("queue <= 7 bdp", "queue <= 10 bdp")
USED = ("utilisation >= 3/4", "utilisation >= 1/2")
LITTLE = ("utilisation >= 1/4", "utilisation >= 1/10")
WINDOW = ("window <= 10 bdp",)


@dataclass(frozen=True)
class Row:
    """Rows of the table: controllers on a network, and bounds, the tightest first.

    Attributes:
        given: A condition on the size of a packet; empty for that of the network. No execution is searched for then.
    """

    names: tuple[str, ...]
    on: str
    bounds: tuple[str, ...]
    given: str = ""


SOLUTIONS = (
    *(f"g1_t11_{number}" for number in range(1, 7)),
    *("g3_1", "g3_2", "g5_any_3", "g5_any_20", "g7_nested_2", "g7_nested_4", "g7_nested_5"),
)
ENVELOPES = ("cc_qdel_narrow", "cc_qdel_wide", "wide_qdel", "g1_t11_3_wide")
SENDERS = ("aimd", "cubic", "bbr", "bbr_v1", "lp", "illinois", "hystart", "swift", "rocc")
PROBES = ("g6_1", "cc_probe_slow", "cc_probe_fast", "cc_probe_drain")

ROWS = [
    Row(("cc_qdel",), INFINITE, ("queue <= 6.5 bdp", "queue <= 7 bdp")),
    Row(("cc_qdel",), INFINITE, ("utilisation >= 4/5", *USED)),
    Row(("cc_qdel",), INFINITE, ("utilisation >= 1/2",)),
    Row(("cc_qdel",), LATER, ("queue <= 20 bdp",)),
    Row(("cc_qdel",), LATER, ("utilisation >= 1/2 within 16",)),
    *(
        Row(("aimd_each_step",), f"{TENTHS} {buffer} bdp", (f"window <= {refuted} bdp", f"window <= {bound} bdp"))
        for buffer, refuted, bound in (("1/2", "2.55", "2.6"), ("1", "3.05", "3.1"), ("2", "4.05", "4.1"))
    ),
    *(
        Row(("aimd_each_step",), f"{TENTHS} {buffer} bdp", ("utilisation >= 3/5", "utilisation >= 1/2"))
        for buffer in ("1/2", "1", "2")
    ),
    Row(("aimd_each_step",), f"{TENTHS} 1 bdp", ("utilisation >= 13/20 within 4", "utilisation >= 3/5 within 4")),
    Row(("aimd_each_step",), f"{TENTHS} 1 bdp", ("utilisation >= 3/4",)),
    *(
        Row(("aimd_each_step",), f"{size} 1 bdp", (bound,))
        for size in (TWENTIETHS, FORTIETHS)
        for bound in ("window <= 3.1 bdp", "utilisation >= 1/2")
    ),
    Row(("aimd_each_step",), f"{ANY}, buffer 1 bdp", ("window <= 3.1 bdp", "window <= 3.2 bdp")),
    *(
        Row(("aimd_each_step",), f"{ANY}, buffer 1 bdp", (bound,), "1/20 <= alpha <= 1/10")
        for bound in ("window <= 3.1 bdp", "utilisation >= 1/2")
    ),
    Row(("copa", "vegas"), INFINITE, ("queue <= 4 bdp", "queue <= 8 bdp")),
    Row(("copa", "vegas"), TENTH, LITTLE),
    Row(("cc_probe_qdel", *ENVELOPES, *SOLUTIONS), INFINITE, QUEUE),
    Row(("cc_probe_qdel", *ENVELOPES, *SOLUTIONS), INFINITE, USED),
    Row(SENDERS, FINITE, WINDOW),
    Row(("vegas", "copa"), INFINITE, WINDOW),
    Row(("reno",), f"{TENTHS} 1 bdp", ("window <= 4 bdp", *WINDOW)),
    Row(PROBES, FIXED, QUEUE),
    Row(PROBES, FIXED, USED[1:]),
    Row(("cc_qdel_sender",), INFINITE, QUEUE[1:]),
    Row(("dctcp", "prague"), MARKS, WINDOW),
]


def main() -> None:
    """Fill the folder, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_intermixed_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    file = given.folder / "invariants.jsonl"
    known = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {(each["name"], each["on"], each["given"], each["expect"]): each for each in known}
    print("| controller | network | claim | answer | CPU s | check, s | MiB | evidence |")
    print("|---|---|---|---|---|---|---|---|")
    for name, each in _rows(given.names):
        tried = []
        for expect in each.bounds:
            key = name, each.on, each.given, expect
            if key not in done:
                print(f"{name}: {expect}", file=sys.stderr, flush=True)
                done[key] = _apart(name, each, expect, given.seconds)
                with file.open("a") as lines:
                    lines.write(json.dumps(done[key]) + "\n")
            tried.append(done[key])
            if tried[-1]["verdict"] == "proved":
                break
        print(line(tried), flush=True)


def _rows(names: list[str]) -> Iterator[tuple[str, Row]]:
    for each in ROWS:
        yield from ((name, each) for name in each.names if not names or name in names)


def _apart(name: str, about: Row, expect: str, seconds: float) -> dict[str, Any]:
    """Return the outcome for a bound, from a process of its own."""
    found = {"name": name, "on": about.on, "given": about.given, "expect": expect}
    answers, questions = get_context("fork").Pipe(duplex=False)
    process = get_context("fork").Process(target=_send, args=(questions, name, about, expect, seconds))
    process.start()
    questions.close()
    try:
        outcome = answers.recv()
    except EOFError:
        outcome = {"verdict": "unknown", "evidence": "the process died"}
    process.join()
    return {**found, **outcome}


def _send(to: Connection, *about: Any) -> None:
    to.send(tested(*about))


def tested(name: str, about: Row, expect: str, seconds: float) -> dict[str, Any]:
    """Return the outcome for a bound: the verdict, CPU seconds and peak memory of this process, and the evidence."""
    begin = process_time()
    try:
        decided = _decided(name, about, expect, seconds)
    except InputError as error:
        return {"verdict": "unknown", "seconds": process_time() - begin, "evidence": error.message}
    verdict, evidence, check = decided.verdict, decided.why, None
    if decided.proved and decided.proved.invariant:
        invariant = decided.proved.invariant
        before = process_time()
        fault = invariant.fault()
        check = process_time() - before
        refused = _refusing(invariant, ("z3", "cvc5"))
        evidence = f"{len(invariant.clauses)} clauses"
        if fault or refused:
            verdict, evidence = "unknown", f"refused: {fault or ', '.join(refused)}"
    elif decided.trace is not None:
        repeats = f", which repeats every {decided.period} R_m for ever" if decided.period else ""
        evidence = f"an execution of {decided.trace.horizon - 1} steps{repeats}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    spent = process_time() - begin
    return {"verdict": verdict, "seconds": spent, "check": check, "MiB": peak, "evidence": evidence}


@isolated
def _refusing(invariant: Invariant, solvers: tuple[str, ...]) -> list[str]:
    """Return the solvers that cannot confirm all implications of an invariant."""
    data = invariant.query, invariant.controller, invariant.claim, invariant.clauses, invariant.without
    implications = list(implications_of(*data))
    return [
        solver
        for solver in solvers
        if not all(checker_of(each.refuted, SolverOptions((solver,))).check() == UNSAT for each in implications)
    ]


def _decided(name: str, about: Row, expect: str, seconds: float) -> Decided:
    """Return the verdict on a bound. With a condition on packets, an invariant alone can decide it."""
    if not about.given:
        return prove_by_invariant(name, about.on, expect, seconds=seconds, jobs=1)
    question = asked(name, about.on, expect)
    query, claim = question.query, claim_of(question)
    query = replace(query, property=replace(query.property, given=about.given))
    proved = prove(query, question.controller, claim, seconds, jobs=1)
    verdict = "proved" if proved.answer is Answer.PROVED else "unknown"
    return Decided(question, claim, verdict, proved, why="no invariant was found in time")


def line(tried: list[dict[str, Any]]) -> str:
    """Return a line of the table: the last bound that was tried, and what became of the tighter ones."""
    last, tighter = tried[-1], [f"{each['expect']}: {each['verdict']}" for each in tried[:-1]]
    check = f"{last['check']:.2f}" if last.get("check") is not None else ""
    evidence = "; ".join((last["evidence"], *tighter))
    on = last["on"].replace(f":{ORACLE}", "") + (f", {last['given']}" if last["given"] else "")
    numbers = (f"{last.get('seconds', 0):.1f}", check, str(last.get("MiB", "")))
    return f"| {' | '.join((last['name'], on, last['expect'], last['verdict'], *numbers, evidence))} |"


if __name__ == "__main__":
    main()
