"""Longer traces of the solver's: windows chained from reachable state to reachable state.

    python -m benchmarks.studies.solver_chained FOLDER [CONTROLLER …] [--windows N] [--timeout SECONDS]

From step 250 of the learned trace of `solver_adversary.py`'s first seed, the solver looks for the eight R_m in which
the sender uses least; from the state in which these end for the next eight, within the budget that they leave; and so
on. Where it finds none in time, or all of the link is used whatever the rates, the rate stays as it is for eight R_m.
Of all these steps together stand beside: 30 random traces, the learned trace as it goes on, and differential evolution,
of the rates of all steps at once.

What the chain uses, the worst of all traces from there uses at most. It need not be the worst: each window is the worst
from its own state, to the resolution, whatever comes after.

FOLDER/solver_chained.json has what is found so far, from which the same command goes on; FOLDER has the whole traces,
which `ccmatic replay` checks. Prints a line for each window, and the table.
"""

import argparse
import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import mean

import ccmatic as cm
from benchmarks.lib import cells
from benchmarks.studies.solver_adversary import (
    BEGIN,
    RANDOM,
    STEPS,
    Clock,
    at_random,
    begun,
    follow,
    genetic,
    learned,
    play,
    recorded,
    solved,
)

CONTROLLERS = ("lp", "vegas", "cc_probe_slow_sender", "bbr")
SEED, STEP = 0, BEGIN

#: To what the solver tells a share of the link; candidates per step of differential evolution.
RESOLUTION, POPULATION = "1/25", 1


def rates_of(sender, begin):
    """The rates from a step on, in C."""
    return [after - before for before, after in pairwise(sender.columns["G"][begin:])]


def find(cell, file, begin, timeout):
    """What the solver tells of a window, and its rates. begin: the Stepwise from which the first window goes on."""
    sender = chained(cell["controller"], cell["window"], file, begin)
    worst = solved(sender, Fraction(0), timeout, RESOLUTION)
    after = follow(sender, worst) if worst.trace else play(sender, rates_of(sender, -2) * STEPS)
    return {**cells.edge(worst), "rates": [str(rate) for rate in rates_of(after, -STEPS - 1)]}


def chained(name, count, file, begin):
    """A Stepwise that goes on over so many windows, which are in the file."""
    for window in windows(name, count, file):
        begin = play(begin, [Fraction(rate) for rate in window["rates"]])
    return begin


def windows(name, count, file):
    """The first of a controller's windows that are in the file, in order."""
    known = json.loads(file.read_text()) if count else []
    mine = {each["window"]: each for each in known if each["controller"] == name and "window" in each}
    return [mine[n] for n in range(count)]


def compare(cell, file, begin, rates):
    """Which share each adversary leaves in all of the windows, and seconds. rates: the learned trace."""
    name, count = cell["controller"], cell["windows"]
    found, steps = windows(name, count, file), count * STEPS
    whole = chained(name, count, file, begin)
    trace = recorded(whole)
    trace.save(file.parent / f"chained_{name}.json")
    told = {"chained": share(whole), "replays": cm.replay(trace).outcome.value}
    told |= {"settled": sum(each["verdict"] == "found" for each in found)}
    told |= {"solver_s": sum(each["seconds"] for each in found)}
    rng, clock = Random(STEP), Clock()
    told |= {"random": mean(share(at_random(begin, rng, steps)) for _ in range(RANDOM)), "random_s": clock.lap()}
    told |= {"learned": share(play(begin, rates[STEP : STEP + steps]))}
    played, evaluations = genetic(begin, 0, SEED, steps, POPULATION)
    return told | {"genetic": share(played), "evaluations": evaluations, "genetic_s": clock.lap()}


def share(sender):
    """Of what the link could serve since the first window began, what was served."""
    return float(sender.used(STEP)[0])


def table(found):
    """A row for each controller, in percent."""
    heads = ("controller", "R_m", "random", "learned", "genetic", "solver, chained", "windows told")
    yield "| " + " | ".join((*heads, "seconds: genetic", "solver")) + " |\n" + "|---" * (len(heads) + 2) + "|"
    for cell in found:
        shares = [f"{100 * cell[how]:.1f}" for how in ("random", "learned", "genetic", "chained")]
        told = f"{cell['settled']} of {cell['windows']}"
        seconds = [f"{cell[how]:.0f}" for how in ("genetic_s", "solver_s")]
        yield "| " + " | ".join((cell["controller"], str(cell["windows"] * STEPS), *shares, told, *seconds)) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=[*CONTROLLERS])
    parser.add_argument("--windows", type=int, default=6, help="how many, of eight R_m each")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for each question to the solver")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    file, found = asked.folder / "solver_chained.json", []
    for name in asked.controllers:
        rates = learned(name, SEED, asked.folder)
        begin = play(begun(name), rates[:STEP])
        each = [{"controller": name, "window": n} for n in range(asked.windows)]
        cells.results(each, file, lambda cell, begin=begin: find(cell, file, begin, asked.timeout), told)
        whole = [{"controller": name, "windows": asked.windows}]
        found += cells.results(whole, file, lambda cell, of=(begin, rates): compare(cell, file, *of), whether)
    print("\n".join(table(found)))


def told(cell):
    return cells.text(cell, "<")


def whether(cell):
    return f"the whole trace {cell['replays']}"


if __name__ == "__main__":
    main()
