"""Who starves: a table of controllers, each beside itself and beside AIMD.

    python -m benchmarks.studies.starve [--folder FOLDER] [--timeout SECONDS] [CONTROLLER …]

`cm.starve` decides each pair on its usual network, within so many seconds for all periods. A cell has the verdict, the
share that the trace leaves to one flow, and how often the trace repeats itself; "fair" means that no flow has less than
the edge in executions of the periods that were decided. The seconds are of the clock and of the processor.

FOLDER/starve.json has what is known so far, from which the same command resumes; pairs that were not decided are tried
again. The traces are beside it. At the end starve.svg is drawn.
"""

import os
from fractions import Fraction
from time import process_time

import ccmatic as cm
from benchmarks.lib import cells
from ccmatic import traces
from ccmatic.base import InputError

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
)
BESIDE = "aimd"
TIMEOUT = 60
UNKNOWN = "unknown"


def pairs(names):
    """The keys of every cell: each beside itself first, as that is decided sooner."""
    alike = [{"controller": name, "beside": name} for name in names]
    return alike + [{"controller": name, "beside": BESIDE} for name in names if name != BESIDE]


def find(controller, beside, folder, timeout):
    """What is kept of a Starvation; `why` if the pair cannot be on the network."""
    begin = process_time()
    try:
        found = cm.starve(
            controller, None if beside == controller else beside, solver=cm.SolverOptions(timeout=timeout)
        )
    except InputError as error:
        return {"why": error.message, "verdict": "refused"}
    if found.trace:
        found.trace.save(folder / f"{controller}-{beside}.json")
    cell = {
        "verdict": found.verdict,
        "on": found.on,
        "share": None if found.share is None else str(found.share),
        "flow": found.least and found.least.controller,
        "period": found.attempt.period if found.attempt else None,
        "attempts": [
            [each.period, each.why or each.worst.sentence(), round(each.seconds, 1)] for each in found.attempts
        ],
        "seconds": round(found.seconds, 1),
        "processor_seconds": round(process_time() - begin, 1),
        "load": round(os.getloadavg()[0], 1),
    }
    return cell


def share_of(cell):
    """The share of the flow that is served least, in words."""
    share = 100 * float(Fraction(cell["share"]))
    long = "in one window"
    if cell["period"]:
        long = f"every {cell['period']} steps" if cell["period"] > 1 else "every step"
    whose = f" for {cell['flow']}" if cell["controller"] != cell["beside"] else ""
    return f"{share:.2g} %{whose}, {long}"


def told(cell):
    """A cell of the table."""
    if cell["verdict"] == "refused":
        return "refused"
    shown = f": {share_of(cell)}" if cell["share"] else ""
    return f"{cell['verdict']}{shown}"


def tried(cell):
    """The outcome of each attempt, by period."""
    if cell["verdict"] == "refused":
        return cell["why"]
    words = {"no execution": "none", "timed out": "timed out"}
    return "; ".join(f"{period or 'window'}: {words.get(says, _edge(says))}" for period, says, _ in cell["attempts"])


def _edge(says):
    return says.split(" of what was served")[0].split("; of what is worse")[0]


def table(found):
    """The table, Markdown."""
    lines = [
        "| controller | beside | verdict: lesser share, repeated | by period | buffer | seconds (processor) |",
        "|---|---|---|---|---|---|",
    ]
    for cell in found:
        beside = "itself" if cell["beside"] == cell["controller"] else cell["beside"]
        buffer = cell["on"].split("buffer ")[1].split(",")[0] if "on" in cell else ""
        seconds = f"{cell['seconds']} ({cell['processor_seconds']})" if "seconds" in cell else ""
        row = [cell["controller"], beside, told(cell), tried(cell), buffer, seconds]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def draw(folder, file):
    """Draw the trace of the first pair."""
    trace = cm.Trace.load(folder / f"{CONTROLLERS[0]}-{CONTROLLERS[0]}.json")
    traces.draw_trace(trace, file)


def main():
    """Decide the pairs that are not known, print the table, and draw."""
    asked = cells.arguments(__doc__, CONTROLLERS, folder="starve", timeout=TIMEOUT, each="pair")
    found = cells.results(
        pairs(asked.controllers),
        asked.folder / "starve.json",
        lambda cell: find(**cell, folder=asked.folder, timeout=asked.timeout),
        told,
        lambda cell: cell["verdict"] != UNKNOWN,
    )
    print(table(found))
    if asked.controllers[0] == CONTROLLERS[0]:
        draw(asked.folder, asked.folder / "starve.svg")


if __name__ == "__main__":
    main()
