"""Use the solver as the adversary, with objectives other than the link's use: loss, delay and unfairness.

    python -m benchmarks.studies.solver_objectives FOLDER [CONTROLLER …] [--of loss delay share] [--seeds 0 1 2]
                                           [--timeout SECONDS]

- loss, delay: over the next eight R_m from each state of `solver_adversary.py`, the largest lost share of the sent
  bytes, or the longest mean queueing delay in R_m. There are four adversaries: 30 random traces (their mean),
  differential evolution for this objective, the learned trace (whose adversary aims at the link's use), and the solver.
  The solver has two values: the effect of its rates in a run, and the proved upper bound.
- share: two flows of a controller, on `smooth_windows_two_flows`, begin with windows of C·R_m/4 over an empty link of
  48 Mbit/s. The table has the least share of the service that one of the flows gets in a few R_m. The table has this
  share for a link of constant rate, and for rates that the network chooses within the budget.

FOLDER/solver_objectives.json has the results so far, and the same command resumes from them. The traces are in this
folder, too. The command prints a line for each state, and a table for each objective.
"""

import argparse
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from statistics import mean

import ccmatic as cm
from benchmarks.lib import cells
from benchmarks.studies.solver_adversary import (
    BEGIN,
    BUFFER,
    PACKET,
    POPULATION,
    RANDOM,
    STEPS,
    Clock,
    at_random,
    begun,
    evolved,
    follow,
    grown,
    learned,
    play,
    waits,
    whole,
    worst_of,
)

CONTROLLERS, STEP = ("vegas", "bbr", "lp", "cc_qdel_sender", "cc_probe_slow_sender"), BEGIN

#: For each objective: the condition that a window of the solver is worse than x, the highest x with its resolution, and
#: the format of x as text.
OBJECTIVES = {
    "loss": (f"{grown('L')} > x * {grown('A')}", 1, "1/50", lambda x: f"{100 * x:.1f} %"),
    "delay": (f"{waits()} > x * {grown('S')}", 64, "1/8", lambda x: f"{x:.2f}"),
}

#: The model of two flows, their controllers, the number of steps, and the rates.
TWO, SHARED = "smooth_windows_two_flows", ("vegas", "lp", "aimd")
SHARED_STEPS, SHARED_RESOLUTION, RATES = 5, "1/20", ("fixed", "chosen")
EQUAL = "; ".join(f"c_f[{flow}][{t}] == 1/4" for flow in (0, 1) for t in (0, 1))


def measured(of, sender):
    """Return the value of the objective for a Stepwise since the compared state. A larger value is worse."""
    if of == "delay":
        return sender.used(STEP)[1]
    lost, sent = (sender.columns[name][-1] - sender.columns[name][STEP] for name in "LA")
    return lost / sent if sent else Fraction(0)


def find(cell, folder, timeout):
    """Compute a cell: the results for an objective, and the seconds."""
    return (share if cell["of"] == "share" else compared)(cell, folder, timeout)


def compared(cell, folder, timeout):
    """Compute the result of each adversary from a state."""
    name, of, seed = cell.values()
    what, high, resolution, _ = OBJECTIVES[of]
    rates = learned(name, seed, folder)
    sender, rng = play(begun(name), rates[:STEP]), Random(STEP)
    result = {"random": float(mean(measured(of, at_random(sender, rng, STEPS)) for _ in range(RANDOM)))}
    result |= {"learned": float(measured(of, play(sender, rates[STEP : STEP + STEPS])))}
    clock = Clock()
    played, _ = evolved(sender, lambda candidate: -float(measured(of, candidate)), seed, STEPS, POPULATION, atol=-1)
    result |= {"genetic": float(measured(of, played)), "genetic_s": clock.lap()}
    worst = worst_of(sender, what, high=high, resolution=resolution, solver=cm.SolverOptions(timeout=timeout))
    result |= {**cells.edge(worst), "solver_s": clock.lap()}
    if worst.trace is None:
        return result | {"alone": 0.0}
    trace = whole(sender, worst.trace)
    trace.save(folder / f"{name}_{seed}_{STEP}_{of}.json")
    alone = float(measured(of, follow(sender, worst)))
    return result | {"replays": cm.replay(trace).outcome.value, "alone": alone}


def share(cell, folder, timeout):
    """Compute the least share that a flow gets."""
    given = [f"alpha == {PACKET}", EQUAL, "G[1] - G[0] == 1/2", *(["V[-1] == V[0]"] if cell["rate"] == "fixed" else [])]
    worst = cm.worst(
        cell["controller"],
        cm.Network(TWO, BUFFER, SHARED_STEPS + 1),
        "share",
        start="empty",
        given="; ".join(given),
        resolution=SHARED_RESOLUTION,
        solver=cm.SolverOptions(timeout=timeout),
    )
    if worst.trace is None:
        return cells.edge(worst)
    worst.trace.save(folder / f"{cell['controller']}_share_{cell['rate']}.json")
    return cells.edge(worst) | {"replays": cm.replay(worst.trace).outcome.value}


def table(results):
    """Yield the means over the states for each controller and objective, and the least shares of two flows."""
    heads = ("random", "genetic", "learned", "solver", "proved", "genetic, s", "solver, s")
    for of in dict.fromkeys(cell["of"] for cell in results if cell["of"] in OBJECTIVES):
        yield f"| {of} | " + " | ".join(heads) + " |\n" + "|---" * (1 + len(heads)) + "|"
        bounded = [cell for cell in results if cell["of"] == of and cell["none"] is not None]
        for name in dict.fromkeys(cell["controller"] for cell in bounded):
            mine = [cell for cell in bounded if cell["controller"] == name]
            reached = [mean(cell[how] for cell in mine) for how in ("random", "genetic", "learned", "alone")]
            reached.append(mean(float(Fraction(cell["none"])) for cell in mine))
            shown = [OBJECTIVES[of][-1](x) for x in reached]
            seconds = [f"{mean(cell[how] for cell in mine):.0f}" for how in ("genetic_s", "solver_s")]
            yield f"| {name} | " + " | ".join((*shown, *seconds)) + " |"
        yield ""
    yield "| two flows of | rate | share: trace below | proved | seconds |\n" + "|---" * 5 + "|"
    for cell in (cell for cell in results if cell["of"] == "share"):
        sides = [f"{100 * float(Fraction(cell[side])):.0f} %" if cell[side] else "-" for side in ("some", "none")]
        yield f"| {cell['controller']} | {cell['rate']} | {' | '.join(sides)} | {cell['seconds']:.0f} |"


def cell_line(cell):
    """Return a cell as a line of text."""
    return f"{cells.text(cell, '?')}; {cell.get('replays', '')}"


def main():
    """Compute the missing cells, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER")
    parser.add_argument("--of", nargs="+", default=(*OBJECTIVES, "share"), choices=(*OBJECTIVES, "share"))
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each question to the solver")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    file = options.folder / "solver_objectives.json"
    every = []
    for of in options.of:
        names = options.controllers or (SHARED if of == "share" else CONTROLLERS)
        begins = [{"controller": name, "of": of} for name in names]
        variants = [{"rate": rate} for rate in RATES] if of == "share" else [{"seed": seed} for seed in options.seeds]
        every += [begin | more for begin, more in product(begins, variants)]
    results = cells.results(every, file, lambda cell: find(cell, options.folder, options.timeout), cell_line)
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
