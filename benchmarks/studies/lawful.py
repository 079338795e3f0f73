"""An adversary that keeps the laws of a model, searched for and learned against proofs: what it reaches, and breaks.

    python -m benchmarks.studies.lawful FOLDER PROOF.json … [--seeds 0 1 2] [--members 12] [--rounds 5]
                                       [--budgets 1/2 14]

Its choices are those that the laws leave open: by how much each part of a step is held back by jitter, within D, and
where the model has tokens, whether one that nobody waits for is kept. Losses follow. Each is played in simulated runs,
packet by packet, in which all windows are judged by the lemmas of the proof.

Searched: choices for cycles of steps, over and over, by SciPy's differential evolution, for the least share of what the
link could serve that is delivered in a window from step FROM on. It begins with random ones, and with what the
counterexamples of the proof hold back. Learned: an agent of ccmatic.learning.adversaries at the level `jitter`, trained
on links as fluids; what it held back in the episodes of its baseline is played. Tokens are kept by each of HIDING in
turn.

A seed is one of the link, its buffer and the first beliefs, of the search, and of the training. FOLDER has the agents,
and lawful.json what is found so far, from which the same command goes on. Prints of each seed: by whom, the least
share, the mean share, and the most that is inflight; the windows, the lemmas that they break, and of how many windows
of the worst runs, end to end, exact arithmetic says that they keep every law of the model. Then the same, searched,
where the rate of the link changes, too, by up to so many twelfths of the first rate in the mean of WINDOW steps
(CCLab's Eq. 8): then only windows in which it stays are judged.
"""

import argparse
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
from scipy.optimize import differential_evolution

from benchmarks.lib import cells, counterexamples
from benchmarks.lib.trained import train
from ccmatic import proving, query
from ccmatic.learning import adversaries
from ccmatic.proving import Trial
from ccmatic.proving.simulation_test import STEPS
from ccmatic.simulation import HIDING
from ccmatic.traces import Trace
from ccmatic.verification import check_trace

#: Steps of a cycle, and parts of a step; steps of one in which the rate is chosen.
CYCLE, PARTS, RATES = 8, 4, 26

#: From which step on a run counts, and over how many steps changes of the rate are summed up.
FROM, WINDOW = 40, 10

#: The least and the most rate, and the first, in twelfths of the first.
LEAST, MOST, FIRST = 4, 18, 12

#: Where agents learn: links of the rates of a Trial, in packets of 1500 bytes in a step of 20 ms. R_m is so small a
#: part of a step; D of the model is that and the jitter, as acknowledgements are known so long after service at most.
SLOTS = 4
LINKS = {"links": "constant", "rate": [14.4, 36, 72], "rtt": 20 / SLOTS, "interval": SLOTS, "steps": 125}
AGENT = {"layers": [32, 16], "gamma": 0.95, "parallel": 64, "episodes": 8, "epochs": 2, "batches": 2,
         "learning_rate": 0.003}  # fmt: skip


def keeping(genes):
    """The hiding of a Simulation that keeps tokens in the parts of a step with more than a half."""
    return lambda rng, bound, step: lambda now: genes[now * PARTS // step % len(genes)] > 0.5


def changing(genes, budget):
    """The changes of a run's rate: as near to what the genes want as the budget leaves."""
    rate, changes, shares = FIRST, [0] * WINDOW, {}
    for step in range(1, STEPS):
        room = math.floor(WINDOW * budget) - sum(changes[1:])
        wanted = round(LEAST + genes[step % len(genes)] * (MOST - LEAST))
        change = max(-room, min(room, wanted - rate))
        rate, changes = rate + change, [*changes[1:], abs(change)]
        if change:
            shares[step] = Fraction(rate, FIRST)
    return shares


def held(trace):
    """The genes of what a counterexample holds back at the ends of its steps."""
    K, S = (np.array([float(value) for value in trace.columns[name]]) for name in "KS")
    shares = counterexamples.held(np.arange(len(S)), K, S, len(S), float(trace.constants["D"]))
    return np.repeat(shares[1 : CYCLE + 1], PARTS)


class Runs:
    """Of one proof, a Result, and seed: `trial`, and what each run came to, (least share, mean, most inflight)."""

    def __init__(self, result, seed, budget=None):
        self.result, self.seed, self.budget = result, seed, budget
        self.trial, self.found = Trial(result), []

    def __call__(self, genes):
        """The least share where an adversary chooses so."""
        return self.least(self.chosen(genes))

    def least(self, run):
        """The least share of a Run, which counts."""
        self.found.append(self._reached(run))
        return self.found[-1][0]

    def chosen(self, genes):
        """The Run in which an adversary chooses so."""
        jitter, hiding, rates = np.split(genes, [CYCLE * PARTS, 2 * CYCLE * PARTS])
        changes = {} if self.budget is None else changing(rates, self.budget)
        return self.trial.run(self.seed, counterexamples.holding(jitter, PARTS), keeping(hiding), changes)

    def holding(self, shares, hiding):
        """The Run of a link that stays, in whose steps such shares of D are held back."""
        return self.trial.run(self.seed, counterexamples.holding(shares, 1), hiding, {})

    def _reached(self, run):
        """(the least share of C(T - D) in a window from FROM on, as properties.performance.utilises counts it; that of
        C·T in all of them; the most that is inflight, in C(R_m + D))."""
        bdp = np.array([run.path_within(step, step).bdp for step in range(run.steps)])
        could = np.concatenate(([0], np.cumsum(bdp)))
        A, L, S = (run.samples[name] for name in "ALS")
        D, length = run.path.jitter, self.result.horizon - 1
        starts = np.arange(FROM, run.steps - length + 1)
        served, capacity = S[starts + length] - S[starts], could[starts + length] - could[starts]
        inflight = (A - L - S)[FROM:-1] / (bdp[FROM:] * (1 + D))
        mean = (S[-1] - S[FROM]) / (could[-1] - could[FROM])
        return float((served / (capacity * (length - D) / length)).min()), float(mean), float(inflight.max())


def executions(run, horizon):
    """Of how many windows of a Run, how many keep every law of its model."""
    traces = [run.trace(start, horizon) for start in range(1, run.steps - horizon + 2, horizon)]
    measured = (trace.measuring(run.path.model.measures) for trace in traces)
    return len(traces), sum(not check_trace(query.from_record(each.query), each).faults for each in measured)


def first_members(traces, members, rng):
    """(members, genes): random ones, and then as many of the counterexamples as there is place for; and how many are
    random."""
    seeds = [held(trace) for trace in traces if len(trace.columns["S"]) > CYCLE][: members // 2]
    made = rng.random((members, 2 * CYCLE * PARTS + RATES))
    for number, genes in enumerate(seeds):
        made[members - len(seeds) + number, : len(genes)] = genes
    return made, members - len(seeds)


def searched(runs, traces, members, rounds):
    """The Run that is found to be worst, and how many of the first runs are random, and of counterexamples."""
    rng = np.random.default_rng(runs.seed)
    first, at_random = first_members(traces, members, rng)
    asked = {"init": first, "maxiter": rounds, "polish": False, "rng": rng}
    return runs.chosen(differential_evolution(runs, [(0, 1)] * first.shape[1], **asked).x), (at_random, members)


def learned(runs, file, folder):
    """The Run that is worst of those in which an agent chose, which is trained against the proof's controller in FOLDER
    unless it is there."""
    controller = folder / f"{file.stem}.py"
    controller.write_text(runs.result.controller.source)
    sizes = [SLOTS * float(size) for size in runs.trial.sizes if size is not None]
    delay = SLOTS * runs.trial.prover.query.jitter  # D in R_m
    links = LINKS | {"jitter": (delay - 1) * LINKS["rtt"], "buffer_bdp": sizes or 12.0 * SLOTS}
    sections = {"environment": links, "adversary": {"target": str(controller), "level": "jitter"}, "agent": AGENT}
    (agent,) = train(folder, file.stem, sections, [runs.seed], adversaries.load)
    shares, patterns = (1 + (delay - 1) * agent.played().held) / delay, sorted(HIDING)
    played = [runs.holding(each, patterns[number % len(patterns)]) for number, each in enumerate(shares.T)]
    return min(played, key=runs.least)


def find(cell, file, given):
    """What adversaries reach and break in a cell of the table."""
    result = proving.load_result(file)
    runs = Runs(result, cell["seed"], None if cell["budget"] is None else Fraction(cell["budget"]))
    files = sorted(file.with_name(f"{file.stem}-traces").glob("beyond_*.json"))
    worst, (at_random, members) = searched(runs, [Trace.load(each) for each in files], given.members, given.rounds)
    found = {"random": runs.found[:at_random], "counterexamples": runs.found[at_random:members], "searched": runs.found}
    told = {"kept": [0, 0]}
    if runs.budget is None:
        count = len(runs.found)
        worst = [worst, learned(runs, file, given.folder)]
        found = {**found, "searched": runs.found[:count], "learned": runs.found[count:]}
        told = {"kept": np.sum([executions(run, result.horizon) for run in worst], axis=0).tolist()}
    told |= {who: extremes(each) for who, each in found.items() if each}
    return told | {"runs": len(runs.found), "windows": runs.trial.windows.total(), "broken": dict(runs.trial.broken)}


def extremes(found):
    """Of what runs came to, the worst of each."""
    least, mean, inflight = zip(*found, strict=True)
    return min(least), min(mean), max(inflight)


def told(cell):
    """The text of a row."""
    reached = [
        f"{who} " + ", ".join(f"{value:.2f}" for value in cell[who])
        for who in ("random", "counterexamples", "searched", "learned")
        if who in cell
    ]
    counted = f"{cell['runs']} runs, {cell['windows']} windows, lemmas broken: {cell['broken'] or 'none'}"
    looked, kept = cell["kept"]
    lawful = f"; of {looked} windows of the worst runs {kept} keep every law" if looked else ""
    return f"{'; '.join(reached)}; {counted}{lawful}"


def main():
    """Print a row for each proof, budget and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("proofs", nargs="+", metavar="PROOF.json", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--members", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budgets", nargs="*", default=("1/2", "14"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    every = []
    for file in given.proofs:
        keys = product([file.stem], (None, *given.budgets), given.seeds)
        asked = [dict(zip(("proof", "budget", "seed"), key, strict=True)) for key in keys]
        find_here = lambda cell, file=file: find(cell, file, given)  # noqa: E731
        every += cells.results(asked, given.folder / "lawful.json", find_here, told)
    print("by whom: the least share, the mean share, the most inflight")
    for file in given.proofs:
        values = proving.load_result(file).values
        proved = ", ".join(f"{name} {float(values[name]):g}" for name in ("utilisation", "inflight") if name in values)
        print(f"{file.stem}: proved {proved}")
        for cell in (each for each in every if each["proof"] == file.stem):
            links = "stays" if cell["budget"] is None else f"{cell['budget']}/12"
            print(f"  {links:<7} seed {cell['seed']}: {told(cell)}")


if __name__ == "__main__":
    main()
