"""Check whether the solver's traces harm a real flow as the solver predicts.

    python -m benchmarks.studies.solver_emulated FOLDER [CONTROLLER …]

The command needs root. The exported sender runs over the emulator on two sorts of link traces, with one rate per R_m of
20 ms:

- `solver`: the traces of the solver of `solver_adversary.py` in FOLDER, for three seeds, complete from the first step.
  If the solver found no trace, because the sender uses every rate fully, the learned trace takes its place. The command
  measures the eight R_m of the solver, and all 258 R_m.
- `rounds`: three runs of four rounds each. A round begins with two seconds at 48 Mbit/s. Then come windows of eight R_m
  by the solver. Each window starts in the state at the end of the previous window. Then the rate returns, within the
  budget, to 48 Mbit/s. The command measures the solver's windows, and the whole run.

The exported text is the text that the solver analysed, for a link without jitter (D = 0). A sender with only a rate
also gets a window, which is too large to limit the sender. A real path acknowledges the bytes of a step of such a
sender at the end of the next step. The model acknowledges them at the end of the same step. Therefore, such a sender
also runs on a path that adds no delay. On this path, R_m is only the length of the sender's steps.

FOLDER/solver_emulated.json has the measurements so far, and FOLDER has the rates of the rounds. The same command
resumes from both. The command repeats a run if at least 1 % of the run's packets were more than a millisecond late. The
command prints the predicted and the measured share of the link's capacity that was served, and the lateness of packets.
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
from ccmatic.deployment.emulation import run
from ccmatic.deployment.emulation.flows import FlowRequest
from ccmatic.deployment.emulation.kinds import Udp
from ccmatic.deployment.emulation.link import OWN, Link
from ccmatic.deployment.exporting import header
from ccmatic.networks.trace_export import Holds
from ccmatic.networks.traces import Trace

BY_WINDOW, BY_RATE = ("vegas", "lp", "bbr"), ("cc_qdel_sender", "cc_probe_slow_sender")
IN_ROUNDS = ("vegas", "lp", "cc_probe_slow_sender")
QUIET, WINDOWS, ROUNDS, TIMEOUT, RUNS = 100, 4, 4, 60, 3

#: The rate C in bits per second, R_m in ns, the buffer β in bytes, and the size of a packet in bytes.
RATE, R_M, BUFFER, PACKET = 96_000_000, 20_000_000, 121_250, 1500
HALF = Fraction(1, 2)


def every(names):
    """Yield the keys of every cell.

    The key `R_m` states whether the path has this delay, or only the sender's steps have this length.
    """
    for name in names:
        for trace in ("solver", *(["rounds"] if name in IN_ROUNDS else [])):
            for R_m in ("path", *(["steps"] if name in BY_RATE else [])):
                for number in range(RUNS):
                    yield {"controller": name, "trace": trace, "R_m": R_m, "run": number}


def rates_of(sender):
    """Return the rates of a Stepwise's or Trace's steps, in C."""
    return [after - before for before, after in pairwise(sender.columns["G"])]


def whole(name, seed, folder):
    """Return the rates of the solver's trace for a seed, and the solver's spans of steps."""
    file = folder / f"{name}_{seed}_{BEGIN}.json"
    rates = rates_of(Trace.load(file)) if file.exists() else learned(name, seed, folder)[: BEGIN + STEPS]
    return rates, [(BEGIN, BEGIN + STEPS)]


def rounds(name, folder):
    """Return the rates of all rounds, and the solver's spans of steps."""
    file = folder / f"{name}_rates.json"
    if not file.exists():
        rates, span = one_round(name)
        file.write_text(json.dumps({"rates": [str(rate) for rate in rates], "span": span}))
    stored = json.loads(file.read_text())
    rates, (begin, end) = [Fraction(rate) for rate in stored["rates"]], stored["span"]
    return rates * ROUNDS, [(len(rates) * n + begin, len(rates) * n + end) for n in range(ROUNDS)]


def one_round(name):
    """Return the rates of one round, in C, and the solver's steps."""
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
    """Return the text of a rate-based sender, extended by a window that is too large to limit the sender."""
    module = ast.parse(text)
    send = next(part for part in module.body if isinstance(part, ast.FunctionDef) and part.name == "send")
    parameters = {argument.arg for argument in send.args.args}
    send.args.args += [ast.arg(name) for name in ("line_rate", "R_m") if name not in parameters]
    for node in ast.walk(send):
        if isinstance(node, ast.Return):
            node.value = ast.Tuple([ast.parse("line_rate * R_m", mode="eval").body, node.value])
    return ast.unparse(ast.fix_missing_locations(module))


class ExportedSender(Udp):
    """A sender of solver_adversary.py over UDP, with D = 0."""

    def __init__(self, name, folder):
        file = folder / f"{name}.py"
        file.write_text(by_window(as_it_runs(name)) if name in BY_RATE else as_it_runs(name))
        self.export = header.make(str(file), jitter=0)


def path(rates, R_m):
    """Return the Link with one of the given rates per R_m.

    The argument `R_m` is `path` if the path has this delay. The argument is `steps` if only the sender's steps have
    this length. In that case, the length of steps is fixed, and served bytes are acknowledged at once.
    """
    bits = [(t * R_M, round(rate * RATE)) for t, rate in enumerate(rates)]
    changes = [bits[0], *(now for before, now in pairwise(bits) if now[1] != before[1])]
    if R_m == "path":
        return Link(tuple(changes), R_M, BUFFER)
    at_once = Holds(RATE // 8, R_M, 0, PACKET, BUFFER, R_M, (((0, 0), (R_M, R_M)),), ())
    return Link(tuple(changes), 1, BUFFER, 0, OWN, holds=at_once)


def find(cell, folder):
    """Compute the predicted and measured shares, for the solver's steps and for all steps.

    The result also has the lateness of packets, in ms.
    """
    name, trace, R_m, number = cell.values()
    rates, spans = rounds(name, folder) if trace == "rounds" else whole(name, number, folder)
    x, link = play(begun(name), rates).columns, path(rates, R_m)
    emulation = run.run_flows(link, [FlowRequest(name, ExportedSender(name, folder))], (len(rates) + STEPS) * R_M / 1e9)
    left = emulation.log[emulation.log["admitted"] >= 0]
    result = {"late": float(np.percentile(emulation.lateness, 99)) / 1e6}
    for what, part in {"solver": spans, "all": [(0, len(rates))]}.items():
        foretold = [sum(x[column][end] - x[column][begin] for begin, end in part) for column in "SG"]
        instants = [(begin * R_M, end * R_M) for begin, end in part]
        served = [left["size"][(left["admitted"] > begin) & (left["admitted"] <= end)].sum() for begin, end in instants]
        offered = sum(link.capacity(begin, end) for begin, end in instants) / 8e9
        result |= {f"{what}_foretold": float(foretold[0] / foretold[1]), what: float(sum(served) / offered)}
    return result


def in_time(cell):
    """Return whether the machine was fast enough for the measurement."""
    return cell["late"] <= run.TOLERANCE / 1e6


def cell_line(cell):
    """Return a cell as a line of text."""
    shares = [
        f"{of}: {100 * cell[f'{of}_foretold']:.1f} % predicted, {100 * cell[of]:.1f} %" for of in ("solver", "all")
    ]
    return f"{'; '.join(shares)}; {cell['late']:.2f} ms late at the 99th percentile"


def table(results):
    """Yield two tables: one for the solver's R_m, and one for whole traces.

    Each table has a row for each controller, type of trace and type of R_m. A row has the share in each run in percent,
    and the median ratio of the measured to the predicted share.
    """
    keys = ("controller", "trace", "R_m")
    for of, what in (("solver", "solver's R_m"), ("all", "whole traces")):
        heads = (what, "traces", "R_m of the", "predicted", "measured", "ratio", "ms late")
        yield "| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|"
        for key in dict.fromkeys(tuple(cell[k] for k in keys) for cell in results):
            mine = [cell for cell in results if tuple(cell[k] for k in keys) == key]
            predicted, measured = ([cell[column] for cell in mine] for column in (f"{of}_foretold", of))
            shares = [", ".join(f"{100 * x:.1f}" for x in runs) for runs in (predicted, measured)]
            ratio = median(b / a for a, b in zip(predicted, measured, strict=True))
            late = max(cell["late"] for cell in mine)
            yield "| " + " | ".join((*key, *shares, f"{ratio:.2f}", f"{late:.2f}")) + " |"
        yield ""


def main():
    """Measure the missing cells, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=[*BY_WINDOW, *BY_RATE])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    file = options.folder / "solver_emulated.json"
    results = cells.results(
        [*every(options.controllers)], file, lambda cell: find(cell, options.folder), cell_line, in_time
    )
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
