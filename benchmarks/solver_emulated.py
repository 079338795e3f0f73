"""Whether a real flow is harmed as the solver foretells.

    python benchmarks/solver_emulated.py FOLDER [CONTROLLER …]

Needs root. The trace of `solver_adversary.py`'s solver: two seconds at 48 Mbit/s, and then windows of eight R_m, one
after the other, each from the state in which the last one ends, in which the sender uses as little of the link as it
can be brought to; then, within the budget, back to 48 Mbit/s, and all of that again, four times. The controller as
exported sends over it, by UDP, on the emulator. Prints the share of what the link could serve in the solver's windows
that is served, as the model foretells, and as it was; the same of the whole run; and by how much packets were late. The
rates and link traces are in FOLDER, from which the same command goes on.
"""

import argparse
import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
from solver_adversary import begun, follow, play, solved

from ccmatic.emulate import kinds, link, run

#: Of each controller, what is exported of it: a window, or what it believes.
CONTROLLERS = {"vegas": "vegas", "lp": "lp", "cc_probe_slow_sender": "cc_probe_slow"}
QUIET, WINDOWS, ROUNDS, TIMEOUT = 100, 4, 4, 60
HALF, RTT = Fraction(1, 2), 0.02


def chained(name):
    """The rates of one round, in C, and the steps, of which to which, that are the solver's."""
    sender = play(begun(name), [HALF] * QUIET)
    for _ in range(WINDOWS):
        worst = solved(sender, Fraction(0), TIMEOUT)
        if worst.trace is None:
            break
        sender = follow(sender, worst)
    span = QUIET, len(sender) - 1
    while sender.columns["G"][-1] - sender.columns["G"][-2] != HALF:
        sender = play(sender, [HALF])
    return [after - before for before, after in pairwise(sender.columns["G"])], span


def written(path, rates):
    """A link trace of mahimahi: 1500 bytes at each millisecond in which the last of them can be served."""
    served = np.cumsum([0, *(float(rate) * 240_000 for rate in rates)])
    last = np.arange(1, int(served[-1] / 1500) + 1) * 1500
    instants = np.ceil(np.interp(last, served, np.arange(len(served)) * RTT * 1000))
    path.write_text("".join(f"{ms:.0f}\n" for ms in instants))


def emulated(name, path, spans):
    """Of what the link could serve in spans of steps, the share that a real flow has; and the run."""
    asked = link.of_opportunities(path, "20ms", "121250")
    flow = kinds.asked(f"udp:{CONTROLLERS[name]}")
    seconds = spans[-1][1] * RTT + 1
    found = run.emulate(asked, [flow], seconds)
    left = found.log[found.log["admitted"] >= 0]
    shares = []
    for part in (spans, [(0, spans[-1][1])]):
        instants = [(int(begin * RTT * 1e9), int(end * RTT * 1e9)) for begin, end in part]
        within = [(left["admitted"] >= begin) & (left["admitted"] < end) for begin, end in instants]
        served = sum(int(left["size"][each].sum()) * 8 * 10**9 for each in within)
        shares.append(served / sum(asked.capacity(begin, end) for begin, end in instants))
    return shares, found


def foretold(sender, spans):
    """The same by the model."""
    for part in (spans, [(0, spans[-1][1])]):
        served, offered = (
            sum(sender.columns[name][end] - sender.columns[name][begin] for begin, end in part) for name in "SG"
        )
        yield float(served / offered)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=[*CONTROLLERS])
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name in asked.controllers:
        file = asked.folder / f"{name}_rates.json"
        if not file.exists():
            rates, span = chained(name)
            file.write_text(json.dumps({"rates": [str(rate) for rate in rates], "span": span}))
        known = json.loads(file.read_text())
        rates, (begin, end) = [Fraction(rate) for rate in known["rates"]] * ROUNDS, known["span"]
        spans = [(len(known["rates"]) * n + begin, len(known["rates"]) * n + end) for n in range(ROUNDS)]
        path = asked.folder / f"{name}.mahimahi"
        written(path, rates)
        told = [*foretold(play(begun(name), rates), spans)]
        was, found = emulated(name, path, spans)
        shares = ", ".join(f"{100 * a:.1f} % foretold, {100 * b:.1f} %" for a, b in zip(told, was, strict=True))
        late = np.percentile(found.lateness, 99) / 1e6
        print(f"{name}: {shares}; {late:.2f} ms late at the 99th percentile", flush=True)


if __name__ == "__main__":
    main()
