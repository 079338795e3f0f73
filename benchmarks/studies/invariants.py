"""Prove controllers by inductive invariants, and print the table of docs/reports/invariants.md.

    python -m benchmarks.studies.invariants [NAME…] [--seconds N]

For each line of the table, the command searches for an invariant, or for an execution that refutes the expectation. A
proved line is accepted by its certificates, by Z3 and by cvc5. The command prints the verdict, the CPU seconds of this
process, and what was tried if the verdict is unknown. NAME selects the lines of some controllers.
"""

import argparse
from time import process_time

from ccmatic.base import InputError
from ccmatic.invariants import asked, decide, is_accepted

CCAC = "ccac, buffer infinite, jitter 1 rtt"
ORACLE = "ccac2021:detection=oracle,timer=executions,loss=deterministic,begins=anywhere,delay=none"

#: The lines of the table: a controller, its network and an expectation.
LINES = [
    *(("cc_qdel", CCAC, expect) for expect in ("queue <= 7 bdp", "queue <= 6.5 bdp", "utilisation >= 1/2")),
    *(("cc_qdel", CCAC, expect) for expect in ("utilisation >= 2/3", "utilisation >= 3/4", "utilisation >= 4/5")),
    *(
        ("cc_qdel", "ccac, buffer infinite, jitter 2 rtt", expect)
        for expect in ("queue <= 20 bdp", "utilisation >= 1/2 within 16")
    ),
    *(("aimd_each_step", f"{ORACLE}, buffer 1/2 bdp", expect) for expect in ("window <= 2.7 bdp", "window <= 2.5 bdp")),
    *(("aimd_each_step", f"{ORACLE}, buffer 1 bdp", expect) for expect in ("window <= 3.2 bdp", "utilisation >= 1/2")),
    *(
        (name, CCAC, expect)
        for name in ("cc_qdel_narrow", "cc_qdel_wide", "g1_t11_1", "g1_t11_2", "g1_t11_3", "cc_probe_qdel")
        for expect in ("queue <= 10 bdp", "utilisation >= 1/2")
    ),
    *(("cc_probe_slow", "cbr_delay, buffer infinite, jitter 1 rtt", expect) for expect in ("queue <= 7 bdp",)),
    *(
        (name, CCAC.replace("infinite", "1 bdp"), "window <= 10 bdp")
        for name in ("aimd", "reno", "cubic", "vegas", "copa", "bbr", "bbr_v1", "lp", "illinois")
    ),
]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    for name, on, expect in LINES:
        if not given.names or name in given.names:
            print(line(name, on, expect, given.seconds), flush=True)


def line(name: str, on: str, expect: str, seconds: float) -> str:
    """Return a line of the table."""
    begin = process_time()
    try:
        decided = decide(asked(name, on, expect), seconds, jobs=1)
    except InputError as error:
        return f"| {name} | {on} | {expect} | unknown | {process_time() - begin:.1f} | {error.message} |"
    evidence = decided.why
    if decided.proved and decided.proved.invariant:
        invariant = decided.proved.invariant
        accepted = [solver for solver in ("z3", "cvc5") if is_accepted(invariant, solver)]
        fault = invariant.fault()
        evidence = f"{len(invariant.clauses)} clauses; accepted by {', '.join(accepted)}; {fault or 'certified'}"
    elif decided.trace is not None:
        evidence = f"an execution of {decided.trace.horizon - 1} steps"
    return f"| {name} | {on} | {expect} | {decided.verdict} | {process_time() - begin:.1f} | {evidence} |"


if __name__ == "__main__":
    main()
