"""Measure how the time of synthesis scales with the horizon and the size of the search space.

    python -m benchmarks.timings.scaling [--jobs N] [--folder FOLDER]

The command measures the time of G1 against the horizon T, and the time of G7's nested branches against the size of the
search space. It writes scaling.json as it proceeds, and resumes from this file if interrupted. At the end, it draws
scaling.svg.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

from ccmatic import query, synthesis
from ccmatic.contracts import Branch

HORIZONS = (5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20)
#: The nested template uses only every n-th condition and rate of each hole.
THINNED = (32, 16, 8, 4, 2, 1)


def against_horizon(horizon):
    """Return G1 with another horizon."""
    question = query.load("g1_t11")
    return question.on(horizon=horizon), horizon


def against_space(every):
    """Return G7 with nested branches, over every n-th condition only."""
    question = query.load("g7_nested")
    condition, rate = question.template.condition[::every], question.template.then.then
    two = Branch(condition, rate, rate)
    template = Branch(condition, two, two)
    return replace(question, template=template), template.size


def measure(question, jobs):
    """Return the solutions, iterations and seconds of a synthesis."""
    *_, now = synthesis.synthesise(question, jobs=jobs)
    return {"solutions": now.solutions, "iterations": now.iterations, "seconds": now.seconds}


def draw(results, file):
    """Draw the time against the horizon, and against the size of the space."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes, kind, label in ((left, "horizon", "horizon T (R_m)"), (right, "space", "candidates")):
        points = sorted((point["at"], point["seconds"], point["solutions"]) for point in results[kind])
        axes.plot([at for at, *_ in points], [seconds for _, seconds, _ in points], marker="o", color="#0072B2")
        for at, seconds, solutions in points:
            axes.annotate(str(solutions), (at, seconds), (0, 6), textcoords="offset points", ha="center", fontsize=8)
        axes.set(xlabel=label, yscale="log", ylabel="seconds")
        axes.grid(alpha=0.3)
    left.set_title("G1; above the points: solutions", fontsize=10)
    right.set_title("G7, nested branches, T = 9", fontsize=10)
    right.set_xscale("log")
    figure.savefig(file)


def main():
    """Measure the missing values, and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("scaling"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    file = arguments.folder / "scaling.json"
    results = json.loads(file.read_text()) if file.exists() else {"horizon": [], "space": []}
    for kind, task, values in (("space", against_space, THINNED), ("horizon", against_horizon, HORIZONS)):
        for value in values:
            question, at = task(value)
            if at not in [point["at"] for point in results[kind]]:
                results[kind].append({"at": at, **measure(question, arguments.jobs)})
                file.write_text(json.dumps(results, indent=1))
            print(kind, results[kind][-1], flush=True)
    draw(results, arguments.folder / "scaling.svg")


if __name__ == "__main__":
    main()
