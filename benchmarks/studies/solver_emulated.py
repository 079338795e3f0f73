"""Whether a real flow is harmed as the solver foretells.

    python -m benchmarks.studies.solver_emulated FOLDER [CONTROLLER …]

Needs root. Two kinds of link traces are played on the emulator, R_m by R_m of 20 ms, with the sender as exported:

- `solver`: the traces of `solver_adversary.py`'s solver in FOLDER, of three seeds, all from the first step on; where
  it found none, as all is used whatever the rates, the learned trace as it goes on. Judged are the eight R_m of the
  solver's, and all 258.
- `rounds`: two seconds at 48 Mbit/s, and then windows of eight R_m of the solver's, one after the other, each from the
  state in which the last one ends; then, within the budget, back to 48 Mbit/s, and all of that again, four times; three
  runs. Judged are the solver's windows, and all.

What is exported is the text that the solver was asked about, for a link without jitter (D = 0). A sender by a rate
alone gets a window that limits nothing. Such a one has what it sent in a step acknowledged at the end of the next one:
the model, at the end of the same. So it also runs where R_m is of the sender's steps alone, and the path adds nothing.

FOLDER/solver_emulated.json has what was measured so far, and FOLDER the rates of rounds, from which the same command
goes on, and repeats the runs of which a packet in a hundred was over a millisecond late. Prints the share of what the
link could serve that is served, as the model foretells, and as it was; and by how much packets were late.
"""

import argparse
import ast
import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.lib import cells
from benchmarks.studies.solver_adversary import BEGIN, STEPS, as_it_runs, begun, follow, learned, play, solved
from ccmatic.emulation import run
from ccmatic.emulation.exported import Udp
from ccmatic.emulation.flows import FlowRequest
from ccmatic.emulation.link import OWN, Link
from ccmatic.exporting import header
from ccmatic.trace_export import Holds
from ccmatic.traces import Trace

BY_WINDOW, BY_RATE = ("vegas", "lp", "bbr"), ("cc_qdel_sender", "cc_probe_slow_sender")
IN_ROUNDS = ("vegas", "lp", "cc_probe_slow_sender")
QUIET, WINDOWS, ROUNDS, TIMEOUT, RUNS = 100, 4, 4, 60, 3

#: C in bits per second, R_m in ns, β and a packet in bytes.
RATE, R_M, BUFFER, PACKET = 96_000_000, 20_000_000, 121_250, 1500
HALF = Fraction(1, 2)


def every(names):
    """The keys of every cell. R_m: of the path, or of the sender's steps."""
    for name in names:
        for trace in ("solver", *(["rounds"] if name in IN_ROUNDS else [])):
            for R_m in ("path", *(["steps"] if name in BY_RATE else [])):
                for number in range(RUNS):
                    yield {"controller": name, "trace": trace, "R_m": R_m, "run": number}


def rates_of(sender):
    """The rates of a Stepwise's or Trace's steps, in C."""
    return [after - before for before, after in pairwise(sender.columns["G"])]


def whole(name, seed, folder):
    """The rates of the solver's trace of a seed, and the spans of steps, of which to which, that are the solver's."""
    file = folder / f"{name}_{seed}_{BEGIN}.json"
    rates = rates_of(Trace.load(file)) if file.exists() else learned(name, seed, folder)[: BEGIN + STEPS]
    return rates, [(BEGIN, BEGIN + STEPS)]


def rounds(name, folder):
    """The same of all rounds."""
    file = folder / f"{name}_rates.json"
    if not file.exists():
        rates, span = one_round(name)
        file.write_text(json.dumps({"rates": [str(rate) for rate in rates], "span": span}))
    known = json.loads(file.read_text())
    rates, (begin, end) = [Fraction(rate) for rate in known["rates"]], known["span"]
    return rates * ROUNDS, [(len(rates) * n + begin, len(rates) * n + end) for n in range(ROUNDS)]


def one_round(name):
    """The rates of one round, in C, and the steps that are the solver's."""
    sender = play(begun(name), [HALF] * QUIET)
    for _ in range(WINDOWS):
        worst = solved(sender, Fraction(0), TIMEOUT)
        if worst.trace is None:
            break
        sender = follow(sender, worst)
    span = QUIET, len(sender) - 1
    while sender.columns["G"][-1] - sender.columns["G"][-2] != HALF:
        sender = play(sender, [HALF])
    return rates_of(sender), span


def by_window(text):
    """The text of a sender by a rate alone, with a window beside that limits nothing."""
    module = ast.parse(text)
    send = next(each for each in module.body if isinstance(each, ast.FunctionDef) and each.name == "send")
    known = {argument.arg for argument in send.args.args}
    send.args.args += [ast.arg(name) for name in ("line_rate", "R_m") if name not in known]
    for node in ast.walk(send):
        if isinstance(node, ast.Return):
            node.value = ast.Tuple([ast.parse("line_rate * R_m", mode="eval").body, node.value])
    return ast.unparse(ast.fix_missing_locations(module))


class Exported(Udp):
    """A sender of solver_adversary.py over UDP. D is 0."""

    def __init__(self, name, folder):
        file = folder / f"{name}.py"
        file.write_text(by_window(as_it_runs(name)) if name in BY_RATE else as_it_runs(name))
        self.export = header.make(str(file), jitter=0)


def path(rates, R_m):
    """The Link of rates, R_m by R_m. R_m: of the path; or of the sender's steps: these are then fixed, and what is
    served is acknowledged at once."""
    bits = [(t * R_M, round(rate * RATE)) for t, rate in enumerate(rates)]
    changes = [bits[0], *(now for before, now in pairwise(bits) if now[1] != before[1])]
    if R_m == "path":
        return Link(tuple(changes), R_M, BUFFER)
    at_once = Holds(RATE // 8, R_M, 0, PACKET, BUFFER, R_M, (((0, 0), (R_M, R_M)),), ())
    return Link(tuple(changes), 1, BUFFER, 0, OWN, holds=at_once)


def find(cell, folder):
    """What was foretold and what was, of the solver's steps and of all; and how late packets were, in ms."""
    name, trace, R_m, number = cell.values()
    rates, spans = rounds(name, folder) if trace == "rounds" else whole(name, number, folder)
    x, link = play(begun(name), rates).columns, path(rates, R_m)
    found = run.emulate(link, [FlowRequest(name, Exported(name, folder))], (len(rates) + STEPS) * R_M / 1e9)
    left = found.log[found.log["admitted"] >= 0]
    told = {"late": float(np.percentile(found.lateness, 99)) / 1e6}
    for what, part in {"solver": spans, "all": [(0, len(rates))]}.items():
        foretold = [sum(x[column][end] - x[column][begin] for begin, end in part) for column in "SG"]
        instants = [(begin * R_M, end * R_M) for begin, end in part]
        served = [left["size"][(left["admitted"] > begin) & (left["admitted"] <= end)].sum() for begin, end in instants]
        offered = sum(link.capacity(begin, end) for begin, end in instants) / 8e9
        told |= {f"{what}_foretold": float(foretold[0] / foretold[1]), what: float(sum(served) / offered)}
    return told


def in_time(cell):
    """Whether the machine was quick enough."""
    return cell["late"] <= run.TOLERANCE / 1e6


def told(cell):
    shares = [
        f"{of}: {100 * cell[f'{of}_foretold']:.1f} % foretold, {100 * cell[of]:.1f} %" for of in ("solver", "all")
    ]
    return f"{'; '.join(shares)}; {cell['late']:.2f} ms late at the 99th percentile"


def table(found):
    """A row for each controller, kind of trace and of path: of each run, in percent; and what was by what was foretold,
    the median."""
    heads = ("sender", "traces", "R_m is of the", "solver's R_m: foretold", "served", "ratio")
    yield "| " + " | ".join((*heads, "all: foretold", "served", "ratio", "ms late")) + " |\n" + "|---" * 10 + "|"
    keys = ("controller", "trace", "R_m")
    for key in dict.fromkeys(tuple(cell[k] for k in keys) for cell in found):
        mine = [cell for cell in found if tuple(cell[k] for k in keys) == key]
        row = list(key)
        for of in ("solver", "all"):
            foretold, was = ([cell[column] for cell in mine] for column in (f"{of}_foretold", of))
            row += [", ".join(f"{100 * x:.1f}" for x in each) for each in (foretold, was)]
            row.append(f"{median(b / a for a, b in zip(foretold, was, strict=True)):.2f}")
        yield "| " + " | ".join((*row, f"{max(cell['late'] for cell in mine):.2f}")) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=[*BY_WINDOW, *BY_RATE])
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    file = asked.folder / "solver_emulated.json"
    found = cells.results([*every(asked.controllers)], file, lambda cell: find(cell, asked.folder), told, in_time)
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
