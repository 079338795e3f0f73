"""Chain windows of the solver to get longer traces. Each window starts in the state in which the previous window ends.

    python -m benchmarks.studies.solver_chained FOLDER [CONTROLLER …] [--windows N] [--timeout SECONDS]

The chain starts at step 250 of the learned trace of the first seed of `solver_adversary.py`. The solver
searches for the eight R_m in which the sender leaves most of the link unused. From the state at their end, it searches
for the next eight R_m within the remaining budget, and so on. If the solver times out, or if the sender uses every rate
fully, the rate stays constant for eight R_m. For comparison, 30 random traces, the learned trace, and differential
evolution of all rates at once cover the same steps.

The link's use in the chain is an upper bound on the use in the worst trace from step 250. The chain may differ from the
worst trace: each window is the worst from its initial state, up to the resolution, but ignores later windows.

FOLDER/solver_chained.json has the results so far, and the same command resumes from them. FOLDER also has the complete
traces, which `ccmatic replay` checks. The command prints a line for each window, and the table.
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

#: The resolution of the solver's shares, and the number of candidates of differential evolution per step.
RESOLUTION, POPULATION = "1/25", 1


def rates_of(sender, begin):
    """Return the rates from a step on, in C."""
    return [after - before for before, after in pairwise(sender.columns["G"][begin:])]


def find(cell, file, begin, timeout):
    """Compute the solver's result for a window, and its rates.

    The argument `begin` is the Stepwise from which the first window continues.
    """
    sender = chained(cell["controller"], cell["window"], file, begin)
    worst = solved(sender, Fraction(0), timeout, RESOLUTION)
    after = follow(sender, worst) if worst.trace else play(sender, rates_of(sender, -2) * STEPS)
    return {**cells.edge(worst), "rates": [str(rate) for rate in rates_of(after, -STEPS - 1)]}


def chained(name, count, file, begin):
    """Return a Stepwise that continues through this many windows of the file."""
    for window in windows(name, count, file):
        begin = play(begin, [Fraction(rate) for rate in window["rates"]])
    return begin


def windows(name, count, file):
    """Return the first windows of a controller in the file, in order."""
    all_cells = json.loads(file.read_text()) if count else []
    mine = {cell["window"]: cell for cell in all_cells if cell["controller"] == name and "window" in cell}
    return [mine[n] for n in range(count)]


def compare(cell, file, begin, rates):
    """Compute each adversary's used share over all windows, and its seconds. `rates` are those of the learned trace."""
    name, count = cell["controller"], cell["windows"]
    chain, steps = windows(name, count, file), count * STEPS
    whole = chained(name, count, file, begin)
    trace = recorded(whole)
    trace.save(file.parent / f"chained_{name}.json")
    result = {"chained": share(whole), "replays": cm.replay(trace).outcome.value}
    result |= {"settled": sum(window["verdict"] == "found" for window in chain)}
    result |= {"solver_s": sum(window["seconds"] for window in chain)}
    rng, clock = Random(STEP), Clock()
    result |= {"random": mean(share(at_random(begin, rng, steps)) for _ in range(RANDOM)), "random_s": clock.lap()}
    result |= {"learned": share(play(begin, rates[STEP : STEP + steps]))}
    played, evaluations = genetic(begin, 0, SEED, steps, POPULATION)
    return result | {"genetic": share(played), "evaluations": evaluations, "genetic_s": clock.lap()}


def share(sender):
    """Return the served share of the link's capacity since the first window began."""
    return float(sender.used(STEP)[0])


def table(results):
    """Yield a row for each controller, in percent."""
    heads = ("controller", "random", "learned", "genetic", "chained", "windows decided", "genetic, s", "chained, s")
    yield "| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|"
    for cell in results:
        shares = [f"{100 * cell[how]:.1f}" for how in ("random", "learned", "genetic", "chained")]
        settled = f"{cell['settled']} of {cell['windows']}"
        seconds = [f"{cell[how]:.0f}" for how in ("genetic_s", "solver_s")]
        yield "| " + " | ".join((cell["controller"], *shares, settled, *seconds)) + " |"


def main():
    """Compute the missing windows and comparisons, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=[*CONTROLLERS])
    parser.add_argument("--windows", type=int, default=6, help="the number of windows of eight R_m each")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for each question to the solver")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    file, results = options.folder / "solver_chained.json", []
    for name in options.controllers:
        rates = learned(name, SEED, options.folder)
        begin = play(begun(name), rates[:STEP])
        window_cells = [{"controller": name, "window": n} for n in range(options.windows)]
        cells.results(
            window_cells, file, lambda cell, begin=begin: find(cell, file, begin, options.timeout), window_line
        )
        whole = [{"controller": name, "windows": options.windows}]
        results += cells.results(whole, file, lambda cell, of=(begin, rates): compare(cell, file, *of), comparison_line)
    print("\n".join(table(results)))


def window_line(cell):
    """Return a window as a line of text."""
    return cells.text(cell, "<")


def comparison_line(cell):
    """Return a comparison as a line of text."""
    return f"the whole trace {cell['replays']}"


if __name__ == "__main__":
    main()
