"""An adversary that keeps the laws of a model, searched for against proofs: what it reaches, and what it breaks.

    python benchmarks/lawful.py PROOF.json … [--seeds 0 1 2] [--members 12] [--rounds 5] [--budgets 1/2 14]

Its choices are those that the laws leave open: by how much each part of a step is held back by jitter, within D, and
where the model has tokens, whether one that nobody waits for is kept; over and over, in cycles of steps. Losses follow.
It is searched for by SciPy's differential evolution, for the least share of what the link could serve that is delivered
in a window of a simulated run from step FROM on; it begins with random ones, and with what the counterexamples of the
proof hold back. Of each seed, which is one of the link, its buffer and the first beliefs, is printed: the least share
and the most that is inflight, of the first members that are random, and of all; the windows, which are all judged, and
the lemmas that they break; and of how many windows of the worst run, end to end, exact arithmetic says that they keep
every law of the model. Then the same where the rate of the link changes, too, by up to so many twelfths of the
first rate in the mean of WINDOW steps (CCLab's Eq. 8): then only windows in which it stays are judged.
"""

import argparse
import math
from fractions import Fraction
from pathlib import Path

import counterexamples
import numpy as np
from scipy.optimize import differential_evolution

from ccmatic import proving, query
from ccmatic.proving import Trial
from ccmatic.proving.simulation_test import STEPS
from ccmatic.traces import Trace
from ccmatic.verification import check_trace

#: Steps of a cycle, and parts of a step; steps of one in which the rate is chosen.
CYCLE, PARTS, RATES = 8, 4, 26

#: From which step on a run counts, and over how many steps changes of the rate are summed up.
FROM, WINDOW = 40, 10

#: The least and the most rate, and the first, in twelfths of the first.
LEAST, MOST, FIRST = 4, 18, 12


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


class Search:
    """Of one proof, a Result, and seed: `trial`, and what each run came to, (least share, most inflight)."""

    def __init__(self, result, seed, budget=None):
        self.result, self.seed, self.budget = result, seed, budget
        self.trial, self.found = Trial(result), []

    def __call__(self, genes):
        """The least share."""
        self.found.append(self._reached(self.run(genes)))
        return self.found[-1][0]

    def run(self, genes):
        """The Run in which an adversary chooses so."""
        jitter, hiding, rates = np.split(genes, [CYCLE * PARTS, 2 * CYCLE * PARTS])
        changes = {} if self.budget is None else changing(rates, self.budget)
        return self.trial.run(self.seed, counterexamples.holding(jitter, PARTS), keeping(hiding), changes)

    def _reached(self, run):
        """(the least share of C(T - D) in a window from FROM on, as properties.performance.utilises counts it; the most
        that is inflight, in C(R_m + D))."""
        bdp = np.array([run.path_within(step, step).bdp for step in range(run.steps)])
        could = np.concatenate(([0], np.cumsum(bdp)))
        A, L, S = (run.samples[name] for name in "ALS")
        D, length = run.path.jitter, self.result.horizon - 1
        starts = np.arange(FROM, run.steps - length + 1)
        served, capacity = S[starts + length] - S[starts], could[starts + length] - could[starts]
        inflight = (A - L - S)[FROM:-1] / (bdp[FROM:] * (1 + D))
        return float((served / (capacity * (length - D) / length)).min()), float(inflight.max())


def executions(run, horizon):
    """Of how many windows of a Run, how many keep every law of its model."""
    traces = [run.trace(start, horizon) for start in range(1, run.steps - horizon + 2, horizon)]
    measured = (trace.measuring(run.path.model.measures) for trace in traces)
    return len(traces), sum(not check_trace(query.from_record(each.query), each).faults for each in measured)


def first_members(traces, members, rng):
    """(members, genes): random ones, and then as many of the counterexamples as there is place for."""
    seeds = [held(trace) for trace in traces if len(trace.columns["S"]) > CYCLE][: members // 2]
    made = rng.random((members, 2 * CYCLE * PARTS + RATES))
    for number, genes in enumerate(seeds):
        made[members - len(seeds) + number, : len(genes)] = genes
    return made, members - len(seeds)


def main():
    """Print a row for each proof, budget and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proofs", nargs="+", metavar="PROOF.json", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--members", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budgets", type=Fraction, nargs="*", default=(Fraction(1, 2), Fraction(14)))
    given = parser.parse_args()
    for file in given.proofs:
        result = proving.load_result(file)
        files = sorted(file.with_name(f"{file.stem}-traces").glob("beyond_*.json"))
        traces = [Trace.load(each) for each in files]
        proved = ", ".join(f"{name} {float(result.values[name]):g}" for name in ("utilisation", "inflight"))
        print(f"{file.stem}: proved {proved}; {len(traces)} counterexamples", flush=True)
        for budget in (None, *given.budgets):
            for seed in given.seeds:
                rng, search = np.random.default_rng(seed), Search(result, seed, budget)
                members, at_random = first_members(traces, given.members, rng)
                bounds = [(0, 1)] * members.shape[1]
                asked = {"init": members, "maxiter": given.rounds, "polish": False, "rng": rng}
                found = differential_evolution(search, bounds, **asked)
                links = "stays" if budget is None else f"{float(budget):g}/12"
                lawful = ""
                if budget is None:
                    looked, kept = executions(search.run(found.x), result.horizon)
                    lawful = f"; of {looked} windows of the worst run {kept} keep every law"
                print(f"  {links:<7} seed {seed}: {told(search, at_random)}{lawful}", flush=True)


def told(search, at_random):
    """The text of a row."""
    columns = (search.found[:at_random], search.found)
    reached = "; ".join(
        f"{who} {min(each[0] for each in rows):.3f}, {max(each[1] for each in rows):.2f}"
        for who, rows in zip(("random", "searched"), columns, strict=True)
    )
    windows, broken = sum(search.trial.windows.values()), dict(search.trial.broken) or "none"
    return f"{reached}; {len(search.found)} runs, {windows} windows, lemmas broken: {broken}"


if __name__ == "__main__":
    main()
