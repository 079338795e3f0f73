"""Measure how synthesis scales with the horizon, the size of the search space, and the number of workers.

    python -m benchmarks.timings.scaling [--jobs N | --dask N] [--limit SECONDS] [--folder FOLDER] [SERIES=VALUE,… …]

The series `horizon` is G1 over the horizon T. The series `space` is G7's nested branches over the size of the search
space; its values are n, and the templates use only every n-th condition and rate of each hole. The value 0 stands for
all of them and a fifth branch. N processes search, or the N workers of a local Dask cluster.

For each point, the command measures the time by the clock, the CPU seconds of the process that proposes candidates and
strikes them out, and the CPU seconds of all workers with their starts. With one job, one process does all of this. A
search that takes longer than the limit ends unfinished, and it ends its series.

FOLDER/scaling.json has the results so far, and the same command resumes from them. At the end, the command prints a
table and draws scaling.svg.
"""

import argparse
import json
import logging
import resource
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic, process_time

from ccmatic import synthesis
from ccmatic.contracts import Branch
from ccmatic.questions import query

SERIES = {"space": (32, 16, 8, 4, 2, 1, 0), "horizon": (5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 20, 22, 24, 26, 28)}
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


def against_horizon(horizon):
    """Return G1 with another horizon."""
    question = query.load("g1_t11")
    return question.on(horizon=horizon), horizon


def against_space(every):
    """Return G7 with nested branches, but only every n-th condition and rate. With n = 0, it has a fifth branch."""
    question = query.load("g7_nested")
    condition, rate = question.template.condition[:: every or 1], question.template.then.then
    two = Branch(condition, rate, rate)
    template = Branch(condition, two, two if every else Branch(condition, two, rate))
    return replace(question, template=template), template.size


TASKS = {"space": against_space, "horizon": against_horizon}


def measure(question, jobs, dask, limit):
    """Return the figures of a synthesis. `seconds` is by the clock; `own` and `workers` are CPU seconds."""
    begin, own, others, complete = monotonic(), process_time(), _of_children(), True
    with _cluster(dask) as address:
        steps = synthesis.synthesise(question, jobs=jobs, cluster=address)
        for step in steps:
            progress = step
            if monotonic() - begin > limit:
                complete = False
                break
        steps.close()
    return {
        "solutions": progress.solutions,
        "iterations": progress.iterations,
        "complete": complete,
        "seconds": round(monotonic() - begin, 2),
        "own": round(process_time() - own, 2),
        "workers": round(_of_children() - others, 2),
    }


def _of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def _cluster(workers):
    """Give the address of a Dask cluster on this machine, whose workers are processes; None without workers."""
    if workers is None:
        yield None
        return
    from distributed import LocalCluster

    # The search leaves its connection to the cluster open, which is no error here.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as made:
        yield made.scheduler_address


def table(results):
    """Return the results as a table in Markdown."""
    lines = ["| series | at | workers | solutions | candidates asked | s by the clock | own CPU s | workers' CPU s |"]
    lines.append("|---" * 8 + "|")
    for series, points in results.items():
        for point in sorted(points, key=lambda point: (point["on"], point["at"])):
            ends = "" if point["complete"] else " (unfinished)"
            cells = [series, f"{point['at']:,}{ends}", point["on"], point["solutions"], point["iterations"]]
            lines.append(
                "| " + " | ".join(map(str, [*cells, *(point[k] for k in ("seconds", "own", "workers"))])) + " |"
            )
    return "\n".join(lines)


def draw(results, file):
    """Draw the CPU seconds of all processes against the horizon, and against the size of the space."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes, series, label in ((left, "horizon", "horizon T (R_m)"), (right, "space", "candidates")):
        for colour, on in zip(COLOURS, sorted({point["on"] for point in results[series]}), strict=False):
            points = sorted(
                (p["at"], p["own"] + p["workers"], p["solutions"]) for p in results[series] if p["on"] == on
            )
            axes.plot([at for at, *_ in points], [cpu for _, cpu, _ in points], marker="o", color=colour, label=on)
        for at, seconds, solutions in points:
            axes.annotate(str(solutions), (at, seconds), (0, 6), textcoords="offset points", ha="center", fontsize=8)
        axes.set(xlabel=label, yscale="log", ylabel="CPU seconds")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    left.set_title("G1; above the points: solutions", fontsize=10)
    right.set_title("G7, nested branches, T = 9", fontsize=10)
    right.set_xscale("log")
    figure.savefig(file)


def main():
    """Measure the missing points, print the table, and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("series", nargs="*", metavar="SERIES=VALUE,…", help="the points; all of them by default")
    many = parser.add_mutually_exclusive_group()
    many.add_argument("--jobs", type=int, default=1, help="processes that search")
    many.add_argument("--dask", type=int, help="workers of a local Dask cluster that search")
    parser.add_argument("--limit", type=float, default=600, help="seconds by the clock for a search")
    parser.add_argument("--folder", type=Path, default=Path("scaling"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    file = arguments.folder / "scaling.json"
    results = json.loads(file.read_text()) if file.exists() else {series: [] for series in SERIES}
    chosen = dict(each.split("=") for each in arguments.series) or SERIES
    jobs, dask = arguments.dask or arguments.jobs, arguments.dask
    on = f"{dask} Dask workers" if dask else f"{jobs} process{'es' if jobs > 1 else ''}"
    for series, values in chosen.items():
        for value in map(int, values.split(",")) if isinstance(values, str) else values:
            question, at = TASKS[series](value)
            point = next((each for each in results[series] if (each["at"], each["on"]) == (at, on)), None)
            if point is None:
                point = {"at": at, "on": on, **measure(question, jobs, dask, arguments.limit)}
                results[series].append(point)
                file.write_text(json.dumps(results, indent=1))
            print(series, point, flush=True)
            if not point["complete"]:
                break
    print(table(results))
    draw(results, arguments.folder / "scaling.svg")


if __name__ == "__main__":
    main()
