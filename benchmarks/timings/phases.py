"""Measure where commands spend their CPU time.

    python -m benchmarks.timings.phases ['COMMAND' …]

A COMMAND is a command line without the word `ccmatic`. Each command runs in a process and a folder of its own, without
the memory of answers. The command prints the CPU seconds of each phase:

- start: Python starts, and imports the packages that all questions need;
- formulas: laws and controllers become formulas, and Z3 reads them;
- solver: Z3 decides;
- traces: a trace becomes readable and is replayed, with the questions to Z3 that this needs;
- rest: everything else.

Solvers that a command uses outside a question about executions, such as Z3's search for invariants, count as rest.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from functools import wraps
from time import process_time

PHASES = ("start", "formulas", "solver", "traces", "rest")
COMMANDS = (
    "verify cc_qdel --query g1_t5",
    "verify cc_qdel --query g1_t11",
    "worst cc_qdel --on 'ccac, buffer 1 bdp' --expect 'delay <= 2 rtt'",
    "worst aimd --on 'cbr_delay, buffer 1 bdp' --expect 'utilisation >= 50% over every 4 rtt'",
    "prove cc_qdel --proof cc_qdel --out proof",
    "check PROOF",
    "front g1_t5 --out front",
    "synth g4_small",
    "synth g6",
    "synth g7_nested",
)
PROOF = os.path.abspath("results/proofs/cc_qdel_T10.json")


class Phases:
    """The CPU seconds of each phase of this process. Only the innermost phase counts, but `traces` counts whole."""

    def __init__(self):
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._now, self._since = "start", 0.0

    @contextmanager
    def within(self, phase):
        """Count the time of a block for a phase."""
        before = self._now
        self.enter(before if before == "traces" else phase)
        try:
            yield
        finally:
            self.enter(before)

    def enter(self, phase):
        """End the present phase, and begin another."""
        now = process_time()
        self.seconds[self._now] += now - self._since
        self._now, self._since = phase, now

    def count(self, owner, name, phase):
        """Count all calls of a function for a phase."""
        function = getattr(owner, name)

        @wraps(function)
        def counted(*arguments, **named):
            with self.within(phase):
                return function(*arguments, **named)

        setattr(owner, name, counted)


def profile(command):
    """Run a command in this process, and print the CPU seconds of its phases on standard error."""
    from ccmatic.answers.verification import counterexample, verifier
    from ccmatic.answers.worst_case import edge
    from ccmatic.cli import main
    from ccmatic.logic.solving import Checker

    phases = Phases()
    phases.count(Checker, "_check", "solver")
    phases.count(Checker, "add", "formulas")
    phases.count(verifier, "choices", "formulas")
    phases.count(verifier.Part, "_go", "formulas")
    phases.count(verifier.Part, "read_trace", "traces")
    phases.count(counterexample, "for_people", "traces")
    phases.count(edge, "for_people", "traces")
    laws = verifier.Part.laws
    verifier.Part.laws = lambda part, *controller: _counted(phases, laws(part, *controller))
    phases.enter("rest")
    sys.argv = ["ccmatic", *shlex.split(command)]
    try:
        main()
    finally:
        phases.enter("rest")
        print(*(f"{phases.seconds[phase]:.2f}" for phase in PHASES), file=sys.stderr)


def _counted(phases, laws):
    """Return the laws, and count the time of their making."""
    with phases.within("formulas"):
        return [*laws]


def measured(command):
    """Return the CPU seconds of each phase of a command, as text."""
    program = f"from benchmarks.timings.phases import profile; profile({command.replace('PROOF', PROOF)!r})"
    environment = os.environ | {"CCMATIC_MEMORY": "", "PYTHONPATH": os.getcwd()}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    *messages, seconds = done.stderr.splitlines() or [""]
    if done.returncode not in (0, 1):
        sys.exit("\n".join([f"{command}: ended with {done.returncode}", *messages, seconds]))
    return seconds.split()


def main():
    """Print a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", default=COMMANDS, metavar="COMMAND")
    print(f"| command | {' | '.join(PHASES)} | sum |", "|---" * (len(PHASES) + 2) + "|", sep="\n")
    for command in parser.parse_args().commands:
        seconds = measured(command)
        print("| " + " | ".join([f"`{command}`", *seconds, f"{sum(map(float, seconds)):.2f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
