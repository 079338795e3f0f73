"""Find which flows starve: a matrix of controllers, each beside itself and beside each other controller.

    python -m benchmarks.studies.starve [--folder FOLDER] [--timeout SECONDS] [CONTROLLER …]

The controllers have state. Wrong examples, envelopes and variants of one controller are left out. DCTCP and Prague need
a network that marks packets, and no such network has several flows.

The function `cm.starve` decides each pair on the pair's default network. The time limit applies to all periods
together. A cell has the verdict, the share that the trace leaves to one flow, and the period of the trace. "Fair" means
that every flow gets at least the proved share, in all executions of the decided periods. Times are in seconds, both by
the clock and of processor time.

FOLDER/starve_matrix.json has the results so far. The same command resumes from them, and tries undecided pairs again.
The traces are in this folder, too. At the end, the command draws the trace of the first pair (starve.svg) and the
matrix (starvation_matrix.svg), and prints the matrix and a table of all pairs.
"""

import os
from fractions import Fraction
from itertools import combinations
from time import process_time

import ccmatic as cm
from benchmarks.lib import cells, pages
from ccmatic.base import InputError
from ccmatic.networks import traces

CONTROLLERS = (
    "vegas",
    "copa",
    "rocc",
    "bbr",
    "lp",
    "illinois",
    "aimd",
    "reno",
    "cubic",
    "bbr_v1",
    "cc_qdel_sender",
    "cc_probe_slow_sender",
    "constant_window",
    "contract",
    "swift",
    "hystart",
)
TIMEOUT = 60
UNKNOWN, FAIR = "unknown", "does not starve"


def pairs(names):
    """Return the keys of every cell.

    Each controller beside itself comes first, because the solver decides these cells faster.
    """
    alike = [{"controller": name, "beside": name} for name in names]
    return alike + [{"controller": first, "beside": second} for first, second in combinations(names, 2)]


def find(controller, beside, folder, timeout):
    """Return the stored form of a Starvation, or the reason `why` the pair cannot run on the network."""
    begin = process_time()
    try:
        starvation = cm.starve(
            controller, None if beside == controller else beside, solver=cm.SolverOptions(timeout=timeout)
        )
    except InputError as error:
        return {"why": error.message, "verdict": "refused"}
    if starvation.trace:
        starvation.trace.save(folder / f"{controller}-{beside}.json")
    cell = {
        "verdict": starvation.verdict,
        "on": starvation.on,
        "share": None if starvation.share is None else str(starvation.share),
        "flow": starvation.least and starvation.least.controller,
        "period": starvation.attempt.period if starvation.attempt else None,
        "attempts": [
            [attempt.period, attempt.why or attempt.worst.sentence(), round(attempt.seconds, 1)]
            for attempt in starvation.attempts
        ],
        "seconds": round(starvation.seconds, 1),
        "processor_seconds": round(process_time() - begin, 1),
        "load": round(os.getloadavg()[0], 1),
    }
    return cell


def share_of(cell):
    """Return the share of the flow with the least service, in words."""
    share = 100 * float(Fraction(cell["share"]))
    long = "in one window"
    if cell["period"]:
        long = f"every {cell['period']} steps" if cell["period"] > 1 else "every step"
    whose = f" for {cell['flow']}" if cell["controller"] != cell["beside"] else ""
    return f"{share:.2g} %{whose}, {long}"


def cell_text(cell):
    """Return a cell of the table."""
    if cell["verdict"] == "refused":
        return "refused"
    shown = f": {share_of(cell)}" if cell["share"] else ""
    return f"{cell['verdict']}{shown}"


def tried(cell):
    """Return the outcome of each attempt, by period."""
    if cell["verdict"] == "refused":
        return cell["why"]
    words = {"no execution": "none", "timed out": "timed out"}
    return "; ".join(f"{period or 'window'}: {words.get(says, _edge(says))}" for period, says, _ in cell["attempts"])


def _edge(says):
    return says.split(" of what was served")[0].split("; of what is worse")[0]


def table(results):
    """Return the table in Markdown."""
    lines = [
        "| controller | other flow | verdict: smaller share, period | bounds by period in steps | buffer "
        "| seconds (processor seconds) |",
        "|---|---|---|---|---|---|",
    ]
    for cell in results:
        beside = "itself" if cell["beside"] == cell["controller"] else cell["beside"]
        buffer = cell["on"].split("buffer ")[1].split(",")[0] if "on" in cell else ""
        seconds = f"{cell['seconds']} ({cell['processor_seconds']})" if "seconds" in cell else ""
        row = [cell["controller"], beside, cell_text(cell), tried(cell), buffer, seconds]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def matrix(results, names):
    """Return the verdicts as lines of Markdown: the row's controller beside the column's."""
    marks = {(cell["controller"], cell["beside"]): mark(cell) for cell in results}
    rows = []
    for place, name in enumerate(names):
        cells_of_row = [marks.get((name, other), "?") if rank >= place else "" for rank, other in enumerate(names)]
        rows.append([name, *cells_of_row])
    return "\n".join(pages.table(["", *names], rows))


def mark(cell):
    """Return a cell of the matrix: the smaller share and whose it is, `fair`, or `?` for an unknown verdict."""
    if cell["verdict"] == "starves":
        return cell["flow"] if cell["controller"] != cell["beside"] else "starves"
    return "fair" if cell["verdict"] == FAIR else "?"


def draw_matrix(results, names, file):
    """Draw the matrix. A cell is red if a flow starves, and has an arrow towards the axis of the starved flow."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    figure = Figure(figsize=(7.5, 7), layout="constrained")
    axes = figure.subplots()
    for cell in results:
        row, column = names.index(cell["controller"]), names.index(cell["beside"])
        colour = {"starves": "#D55E00", FAIR: "#009E73"}.get(cell["verdict"], "#DDDDDD")
        axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="white"))
        sign = "?" if cell["verdict"] == UNKNOWN else ""
        if cell["verdict"] == "starves" and row != column:
            sign = "←" if cell["flow"] == cell["controller"] else "↓"
        axes.text(column + 0.5, row + 0.5, sign, ha="center", va="center")
    places = [place + 0.5 for place in range(len(names))]
    axes.set(xlim=(0, len(names)), ylim=(len(names), 0), aspect="equal", frame_on=False)
    axes.set_xticks(places, names, rotation=90)
    axes.set_yticks(places, names)
    axes.tick_params(length=0)
    figure.savefig(file)


def draw(folder, file):
    """Draw the trace of the first pair."""
    trace = cm.Trace.load(folder / f"{CONTROLLERS[0]}-{CONTROLLERS[0]}.json")
    traces.draw_trace(trace, file)


def main():
    """Decide the missing pairs, print the table, and draw the figure."""
    options = cells.arguments(__doc__, CONTROLLERS, folder="starve", timeout=TIMEOUT, each="pair")
    results = cells.results(
        pairs(options.controllers),
        options.folder / "starve_matrix.json",
        lambda cell: find(**cell, folder=options.folder, timeout=options.timeout),
        cell_text,
        lambda cell: cell["verdict"] != UNKNOWN,
    )
    print(matrix(results, options.controllers), table(results), sep="\n\n")
    draw_matrix(results, list(options.controllers), options.folder / "starvation_matrix.svg")
    if options.controllers[0] == CONTROLLERS[0]:
        draw(options.folder, options.folder / "starve.svg")


if __name__ == "__main__":
    main()
