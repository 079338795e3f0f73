"""The solver as the adversary, by other objectives than the link's use: loss, delay and unfairness.

    python -m benchmarks.studies.solver_objectives FOLDER [CONTROLLER …] [--of loss delay share] [--seeds 0 1 2]
                                           [--timeout SECONDS]

loss, delay: from the states of `solver_adversary.py`, of the next eight R_m, the most that is lost of what is sent, or
the longest mean queueing delay, in R_m: by 30 random traces, their mean; by differential evolution for this objective;
by the learned trace as it goes on, whose adversary aims at the link's use; by the solver, what its rates do when they
are played; and above what no execution is, as it proves.
share: two flows of a controller, on `smooth_windows_two_flows`, begin with windows of C·R_m/4 over an empty link of
48 Mbit/s. The least share of what is served that one of them has in a few R_m, where the rate stays as it is, and where
it is chosen within the budget.

FOLDER/solver_objectives.json has what is found so far, from which the same command goes on; the traces are beside it.
Prints a line for each state, and a table for each objective.
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
    asked_of,
    at_random,
    begun,
    evolved,
    follow,
    grown,
    learned,
    play,
    waits,
    whole,
)

CONTROLLERS, STEP = ("vegas", "bbr", "lp", "cc_qdel_sender", "cc_probe_slow_sender"), BEGIN

#: Of each objective the condition that a window of the solver is worse than x; the most and the step of x; and how x is
#: told.
OBJECTIVES = {
    "loss": (f"{grown('L')} > x * {grown('A')}", 1, "1/50", lambda x: f"{100 * x:.1f} %"),
    "delay": (f"{waits()} > x * {grown('S')}", 64, "1/8", lambda x: f"{x:.2f}"),
}

#: Two flows, of which controllers, for how many steps.
TWO, SHARED = "smooth_windows_two_flows", ("vegas", "lp", "aimd")
SHARED_STEPS, SHARED_RESOLUTION, RATES = 5, "1/20", ("fixed", "chosen")
EQUAL = "; ".join(f"c_f[{flow}][{t}] == 1/4" for flow in (0, 1) for t in (0, 1))


def measured(of, sender):
    """How bad a Stepwise is since the state that is compared, as a number."""
    if of == "delay":
        return sender.used(STEP)[1]
    lost, sent = (sender.columns[name][-1] - sender.columns[name][STEP] for name in "LA")
    return lost / sent if sent else Fraction(0)


def find(cell, folder, timeout):
    """What is found of an objective, and seconds."""
    return (share if cell["of"] == "share" else compared)(cell, folder, timeout)


def compared(cell, folder, timeout):
    """What each adversary reaches from a state."""
    name, of, seed = cell.values()
    what, high, resolution, _ = OBJECTIVES[of]
    rates = learned(name, seed, folder)
    sender, rng = play(begun(name), rates[:STEP]), Random(STEP)
    told = {"random": float(mean(measured(of, at_random(sender, rng, STEPS)) for _ in range(RANDOM)))}
    told |= {"learned": float(measured(of, play(sender, rates[STEP : STEP + STEPS])))}
    clock = Clock()
    played, _ = evolved(sender, lambda each: -float(measured(of, each)), seed, STEPS, POPULATION, atol=-1)
    told |= {"genetic": float(measured(of, played)), "genetic_s": clock.lap()}
    worst = asked_of(sender, what, high=high, resolution=resolution, solver=cm.SolverOptions(timeout=timeout))
    told |= {**cells.edge(worst), "solver_s": clock.lap()}
    if worst.trace is None:
        return told | {"alone": 0.0}
    trace = whole(sender, worst.trace)
    trace.save(folder / f"{name}_{seed}_{STEP}_{of}.json")
    alone = float(measured(of, follow(sender, worst)))
    return told | {"replays": cm.replay(trace).outcome.value, "alone": alone}


def share(cell, folder, timeout):
    """The least share of a flow."""
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


def table(found):
    """Means over the states of each controller and objective; and the least shares of two flows."""
    heads = ("objective", "controller", "states", "random", "genetic", "learned", "solver", "none above")
    yield "| " + " | ".join((*heads, "seconds: genetic", "solver")) + " |\n" + "|---" * (len(heads) + 2) + "|"
    for of, name in dict.fromkeys((cell["of"], cell["controller"]) for cell in found if cell["of"] in OBJECTIVES):
        mine = [cell for cell in found if (cell["of"], cell["controller"]) == (of, name) and cell["none"] is not None]
        reached = [mean(cell[how] for cell in mine) for how in ("random", "genetic", "learned", "alone")]
        reached.append(mean(float(Fraction(cell["none"])) for cell in mine))
        shown = [OBJECTIVES[of][-1](x) for x in reached]
        seconds = [f"{mean(cell[how] for cell in mine):.0f}" for how in ("genetic_s", "solver_s")]
        yield f"| {of} | {name} | {len(mine)} | " + " | ".join((*shown, *seconds)) + " |"
    yield "\n| two flows of | rate | share: one below | none below | seconds |\n" + "|---" * 5 + "|"
    for cell in (each for each in found if each["of"] == "share"):
        sides = [f"{100 * float(Fraction(cell[side])):.0f} %" if cell[side] else "-" for side in ("some", "none")]
        yield f"| {cell['controller']} | {cell['rate']} | {' | '.join(sides)} | {cell['seconds']:.0f} |"


def told(cell):
    return f"{cells.text(cell, '?')}; {cell.get('replays', '')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER")
    parser.add_argument("--of", nargs="+", default=(*OBJECTIVES, "share"), choices=(*OBJECTIVES, "share"))
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each question to the solver")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    file = asked.folder / "solver_objectives.json"
    every = []
    for of in asked.of:
        names = asked.controllers or (SHARED if of == "share" else CONTROLLERS)
        begins = [{"controller": name, "of": of} for name in names]
        each = [{"rate": rate} for rate in RATES] if of == "share" else [{"seed": seed} for seed in asked.seeds]
        every += [begin | more for begin, more in product(begins, each)]
    found = cells.results(every, file, lambda cell: find(cell, asked.folder, asked.timeout), told)
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
