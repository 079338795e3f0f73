"""Compare a flow's beliefs beside another flow with the values that are possible, given all the flow's observations.

    python -m benchmarks.studies.beside_others_possible --folder FOLDER [--runs N]

The link has a constant rate. Random runs of two flows begin with an empty link. Each flow sends at up to twice the
link's rate, and on average changes its rate in one of eight steps. The solver then considers all executions of
`two_flows_constant_rate` in which the first flow sends the same bytes as in the run, and has the same bytes
acknowledged. The unit of bytes is arbitrary. The solver finds the lowest link rate in these executions, and the least
service of others in the last eight steps. The command prints means in units of the run's link rate, and the number of
runs in which the sender knows a value above 0. The command also counts the beliefs that exceed the least possible
value, and the least possible values that exceed the true value. Both counts should be 0. The folder keeps the results.
"""

import argparse
from fractions import Fraction
from pathlib import Path

import numpy as np
from ccmatic.models.beliefs.beside_others import WINDOW

import ccmatic as cm
from benchmarks.lib import cells

#: A sender of any rate that forms beliefs. It observes all steps except the last step.
LISTENER = """pace: rate = above(0)
def update(C_L, others_L, line_rate):
    pace = between(0, line_rate)
def send(pace):
    return pace
"""
STEPS = WINDOW + 4
SEEN = STEPS - 2

#: The resolution of the least values.
FINE = Fraction(1, 100)


def run(jitter, seed):
    """Return the bytes that each flow has sent, and the bytes acknowledged to each flow, by step.

    Both results are lists with one list of Fractions per flow, in C·R_m.
    """
    rng = np.random.default_rng(seed)
    draw = lambda: Fraction(int(rng.integers(1, 17)), 8)  # noqa: E731
    rates, sent, through, left = [draw(), draw()], [[Fraction(0)], [Fraction(0)]], [Fraction(0)], [Fraction(0)]
    for t in range(1, STEPS):
        rates = [draw() if rng.random() < 1 / 8 else rate for rate in rates]
        for column, rate in zip(sent, rates, strict=True):
            column.append(column[-1] + rate)
        through.append(min(through[-1] + 1, sent[0][t] + sent[1][t]))
        left.append(max(left[-1], through[t - int(rng.integers(0, jitter + 1))]))
    return sent, [[_part(sent, flow, level) for level in left] for flow in (0, 1)]


def _part(sent, flow, level):
    """Return the bytes of one flow among the first `level` bytes of both flows, in the order of their arrival."""
    total = [sum(both) for both in zip(*sent, strict=True)]
    t = next(t for t in range(1, STEPS) if total[t] >= level)
    share = (level - total[t - 1]) / (total[t] - total[t - 1])
    return sent[flow][t - 1] + share * (sent[flow][t] - sent[flow][t - 1])


def found(jitter, seed):
    """Measure the beliefs and the possible values of a run.

    Returns:
        Three values for `C` and for `others`, in units of the link rate: the `believed` value, the least `possible`
        value, and the `true` value. The possible value may be too high by at most a hundredth.
    """
    sent, acked = run(jitter, seed)
    all_, own = acked[0][SEEN], f"(S_f[0][{SEEN}] - S_f[0][0])"
    given = ["alpha > 0", "A_f[0][0] - L_f[0][0] == S_f[0][0]", f"C_L_f[0][0] <= {own} / 1000"]  # packets of any size
    for name, column in (("A", sent[0]), ("S", acked[0])):
        given += [f"{name}_f[0][{t}] - {name}_f[0][0] == {column[t] / all_} * {own}" for t in range(1, SEEN + 1)]
    less = {
        "C": f"{all_} <= x * {own}",
        "others": f"(S_f[1][{SEEN}] - S_f[1][{SEEN - WINDOW}]) * {all_} <= {WINDOW} * x * {own}",
    }
    network, rows = cm.Network("two_flows_constant_rate", "infinite", STEPS, jitter=jitter), {}
    true = {"C": 1, "others": (acked[1][SEEN] - acked[1][SEEN - WINDOW]) / WINDOW}
    for name, what in less.items():
        among = {"low": 0, "high": 1, "resolution": FINE}
        worst = cm.worst([LISTENER, "anyone"], network, what, given="; ".join(given), **among)
        trace = worst.trace.columns
        believed = trace[f"{name}_L1"][-1] * all_ / (trace["S1"][SEEN] - trace["S1"][0])
        rows[name] = {"believed": believed, "possible": worst.none or 0, "true": true[name]}
    return rows


def main():
    """Print a line for each value of the jitter and each belief."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)

    def find(cell):
        rows = found(**cell)
        return {name: {what: float(value) for what, value in row.items()} for name, row in rows.items()}

    for jitter in (0, 1):
        made = [{"jitter": jitter, "seed": seed} for seed in range(1, given.runs + 1)]
        runs = cells.results(made, given.folder / "possible.json", find, lambda cell: "is found")
        for name in ("C", "others"):
            rows = np.array([[run[name][what] for what in ("believed", "possible", "true")] for run in runs])
            means, positive = rows.mean(0), (rows > 0).sum(0)
            false = (rows[:, 0] > rows[:, 1] + float(FINE) + 1e-9).sum() + (rows[:, 1] > rows[:, 2]).sum()
            print(f"jitter of {jitter} R_m, {name:>6}: believed {means[0]:.2f}, possible {means[1]:.2f}, true "
                  f"{means[2]:.2f}; above 0 in {positive[0]} and {positive[1]} of {len(runs)} runs; {false} are false",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
