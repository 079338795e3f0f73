"""Search for adversaries that obey the laws of a model, train such adversaries, and test proofs with them.

    python -m benchmarks.studies.lawful FOLDER PROOF.json … [--seeds 0 1 2] [--members 12] [--rounds 5]
                                       [--budgets 1/2 14]

An adversary makes the choices that the laws leave open. For each interval of a step, it chooses the delay by jitter as
a share of D. If the model has tokens, the adversary also chooses whether the link keeps a token while no packet waits.
These choices determine the losses. The command plays the choices in simulated runs, packet by packet. It checks every
window of these runs against the lemmas of the proof.

- Searched: SciPy's differential evolution searches for choices for a cycle of steps, which the run repeats. The search
  minimises the share of the link's capacity that is delivered in any window after step FROM. The search starts from
  random choices and from the delays of the proof's counterexamples.
- Learned: an agent of ccmatic.learning.adversaries acts at the level `jitter`, trained on fluid links. The runs play
  the agent's delays in the episodes of its baseline. Each rule in HIDING for keeping tokens is tried in turn.

A seed determines the link, its buffer, the initial beliefs, the search and the training. FOLDER has the agents, and
FOLDER/lawful.json has the results so far. The same command resumes from both. For each seed, the command prints:

- for each type of adversary, the least share, the mean share, and the most bytes in flight;
- the windows, and the lemmas that they break;
- the number of consecutive windows of the worst runs that obey every law of the model in exact arithmetic.

Then the command repeats the search with changes of the link's rate. The mean change over WINDOW steps is at most a
budget (CCLab's Eq. 8), in twelfths of the initial rate. In these runs, only windows of constant rate are checked.
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
from benchmarks.trials import STEPS, Trial
from ccmatic import proving
from ccmatic.answers.verification import check_trace
from ccmatic.learning import adversaries
from ccmatic.networks.simulation import HIDING
from ccmatic.questions import query

#: The number of steps in a cycle, the number of intervals in a step, and the number of steps in a cycle of rates.
CYCLE, PARTS, RATES = 8, 4, 26

#: The first step of a run that counts, and the number of steps over which changes of the rate are summed up.
FROM, WINDOW = 40, 10

#: The lowest, the highest and the first rate, in twelfths of the first rate.
LEAST, MOST, FIRST = 4, 18, 12

#: The links on which agents learn have the rates of a Trial, with packets of 1500 bytes and steps of 20 ms. R_m is a
#: SLOTS-th of a step. The model's D is R_m plus the jitter: acknowledgements follow service by at most D.
SLOTS = 4
LINKS = {"links": "constant", "rate": [14.4, 36, 72], "rtt": 20 / SLOTS, "interval": SLOTS, "steps": 125}
AGENT = {"layers": [32, 16], "gamma": 0.95, "parallel": 64, "episodes": 8, "epochs": 2, "batches": 2,
         "learning_rate": 0.003}  # fmt: skip


def keeping(genes):
    """Return a pattern for hidden tokens.

    A gene is a number of the search; the link hides tokens in each interval whose gene exceeds 1/2.
    """
    return lambda rng, bound, step: lambda now: genes[now * PARTS // step % len(genes)] > 0.5


def changing(genes, budget):
    """Return the changes of a run's rate: as near to the values in the genes (search numbers) as the budget allows."""
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
    """Return the genes that encode a counterexample's delays at the ends of its steps."""
    K, S = (np.array([float(value) for value in trace.columns[name]]) for name in "KS")
    shares = counterexamples.held(np.arange(len(S)), K, S, len(S), float(trace.constants["D"]))
    return np.repeat(shares[1 : CYCLE + 1], PARTS)


class Runs:
    """The runs of one proof, a Result, and one seed.

    Attributes:
        trial: The Trial.
        found: For each run, (least share, mean share, most bytes in flight).
    """

    def __init__(self, result, seed, budget=None):
        self.result, self.seed, self.budget = result, seed, budget
        self.trial, self.found = Trial(result), []

    def __call__(self, genes):
        """Return the least share of the run with these genes."""
        return self.least(self.chosen(genes))

    def least(self, run):
        """Record the measures of a Run, and return its least share."""
        self.found.append(self._reached(run))
        return self.found[-1][0]

    def chosen(self, genes):
        """Return the Run with these genes."""
        jitter, hiding, rates = np.split(genes, [CYCLE * PARTS, 2 * CYCLE * PARTS])
        changes = {} if self.budget is None else changing(rates, self.budget)
        return self.trial.run(self.seed, counterexamples.holding(jitter, PARTS), keeping(hiding), changes)

    def holding(self, shares, hiding):
        """Return the Run on a link of constant rate. Jitter delays the intervals of steps by the given shares of D."""
        return self.trial.run(self.seed, counterexamples.holding(shares, 1), hiding, {})

    def _reached(self, run):
        """Measure the least share, the mean share and the bytes in flight of a Run.

        Returns:
            Three numbers. The first number is the least share of C(T - D) that any window from step FROM on delivers;
            properties.performance.utilises defines this share. The second number is the share of C·T that all these
            windows together deliver. The third number is the most bytes in flight, in C(R_m + D).
        """
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
    """Return the number of windows of a Run, and the number of windows that obey every law of its model."""
    traces = [run.trace(start, horizon) for start in range(1, run.steps - horizon + 2, horizon)]
    measured = (trace.measuring(run.path.model.measures) for trace in traces)
    return len(traces), sum(not check_trace(query.from_record(window.query), window).faults for window in measured)


def first_members(traces, members, rng):
    """Return the first members (members, genes), and the number of random members. The others are counterexamples."""
    seeds = [held(trace) for trace in traces if len(trace.columns["S"]) > CYCLE][: members // 2]
    made = rng.random((members, 2 * CYCLE * PARTS + RATES))
    for number, genes in enumerate(seeds):
        made[members - len(seeds) + number, : len(genes)] = genes
    return made, members - len(seeds)


def searched(runs, traces, members, rounds):
    """Return the worst Run of a search, the number of random first members, and the number of all first members."""
    rng = np.random.default_rng(runs.seed)
    first, at_random = first_members(traces, members, rng)
    options = {"init": first, "maxiter": rounds, "polish": False, "rng": rng}
    return runs.chosen(differential_evolution(runs, [(0, 1)] * first.shape[1], **options).x), (at_random, members)


def learned(runs, file, folder):
    """Return the worst Run among those of an agent's choices.

    The function trains the agent against the proof's controller, unless FOLDER has the agent.
    """
    controller = folder / f"{file.stem}.py"
    controller.write_text(runs.result.controller.source)
    sizes = [SLOTS * float(size) for size in runs.trial.sizes if size is not None]
    delay = SLOTS * runs.trial.prover.query.jitter  # D in R_m
    links = LINKS | {"jitter": (delay - 1) * LINKS["rtt"], "buffer_bdp": sizes or 12.0 * SLOTS}
    sections = {"environment": links, "adversary": {"target": str(controller), "level": "jitter"}, "agent": AGENT}
    (agent,) = train(folder, file.stem, sections, [runs.seed], adversaries.load)
    shares, patterns = (1 + (delay - 1) * agent.played().held) / delay, sorted(HIDING)
    played = [
        runs.holding(held_shares, patterns[number % len(patterns)]) for number, held_shares in enumerate(shares.T)
    ]
    return min(played, key=runs.least)


def find(cell, file, given):
    """Compute a cell of the table: the measures that adversaries reach, and the lemmas that adversaries break."""
    result = proving.load_result(file)
    runs = Runs(result, cell["seed"], None if cell["budget"] is None else Fraction(cell["budget"]))
    traces = [*counterexamples.traces([f"results/proofs/{file.stem}-traces/beyond_*.json"]).values()]
    worst, (at_random, members) = searched(runs, traces, given.members, given.rounds)
    first, others = runs.found[:at_random], runs.found[at_random:members]
    reached = {"random": first, "counterexamples": others, "searched": runs.found}
    row = {"kept": [0, 0]}
    if runs.budget is None:
        count = len(runs.found)
        worst = [worst, learned(runs, file, given.folder)]
        reached = {**reached, "searched": runs.found[:count], "learned": runs.found[count:]}
        row = {"kept": np.sum([executions(run, result.horizon) for run in worst], axis=0).tolist()}
    row |= {who: extremes(measures) for who, measures in reached.items() if measures}
    return row | {"runs": len(runs.found), "windows": runs.trial.windows.total(), "broken": dict(runs.trial.broken)}


def extremes(reached):
    """Return the worst value of each measure over several runs."""
    least, mean, inflight = zip(*reached, strict=True)
    return min(least), min(mean), max(inflight)


def row_text(cell):
    """Return the text of a row."""
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
        requests = [dict(zip(("proof", "budget", "seed"), key, strict=True)) for key in keys]
        find_here = lambda cell, file=file: find(cell, file, given)  # noqa: E731
        every += cells.results(requests, given.folder / "lawful.json", find_here, row_text)
    print("by whom: the least share, the mean share, the most inflight")
    for file in given.proofs:
        values = proving.load_result(file).values
        proved = ", ".join(f"{name} {float(values[name]):g}" for name in ("utilisation", "inflight") if name in values)
        print(f"{file.stem}: proved {proved}")
        for cell in (cell for cell in every if cell["proof"] == file.stem):
            links = "stays" if cell["budget"] is None else f"{cell['budget']}/12"
            print(f"  {links:<7} seed {cell['seed']}: {row_text(cell)}")


if __name__ == "__main__":
    main()
