"""Compare the worst cases of controllers across networks: a table for each measure, and the typical times to decide.

    python -m benchmarks.studies.networks [--folder FOLDER] [--timeout SECONDS] [CONTROLLER …]

Each cell is the edge of an expectation within 4 R_m (6 R_m for bbr_v1): the lowest utilisation, the longest delay, and
the largest share of lost bytes. Executions begin in the state `converged`. Executions of rate senders begin with C_L
(the believed lower bound on the link's rate) between 50 and 100 % of C. A plain cell states an edge: no execution is
worse than the value, but a trace is worse than the next value of the search. A cell with "found" has the worst trace so
far, and the solver did not prove that no execution is worse. A cell "timed out" has neither side, and "–" means that
ccmatic refuses the question. The last table has the median time of a decided cell on each network, and its ratio to the
time on CCAC.

FOLDER/networks.json has the results so far, and the same command resumes from them. The traces are in the same folder.
"""

import os
from fractions import Fraction
from statistics import median
from time import process_time

import ccmatic as cm
from benchmarks.lib import cells
from ccmatic.base import InputError

BY_RATE = ("cc_qdel", "cc_qdel_narrow", "cc_qdel_wide")
START = dict.fromkeys(BY_RATE, "C_L >= 50% and C_L <= 100%")
HORIZON = {"bbr_v1": 7}  # this controller never decides in a shorter execution
CONTROLLERS = (*BY_RATE, "aimd", "reno", "cubic", "bbr_v1", "copa", "vegas", "rocc", "illinois", "lp")

#: The networks by their names in the table. The table compares all other networks with the first.
NETWORKS = {
    "CCAC": "ccac, buffer 1 bdp, jitter 1 rtt",
    "pauses": "ccac, buffer 1 bdp, jitter 1 rtt, application pauses",
    "policer": "policer, bucket 1 bdp, jitter 1 rtt",
    "marking": "marking, buffer 1 bdp, threshold 1/4 bdp, jitter 1 rtt",
    "loss 0.1 %": "lossy, buffer 1 bdp, loss 0.1%, burst 1 packet, jitter 1 rtt",
    "loss 1 %": "lossy, buffer 1 bdp, loss 1%, burst 1 packet, jitter 1 rtt",
    "outage 1 R_m": "ccac, buffer 1 bdp, jitter 1 rtt, outage 1 rtt",
    "R_m doubles": "ccac, buffer 1 bdp, jitter 1 rtt, change rtt x2",
    "rate halves": "ccac, buffer 1 bdp, jitter 1 rtt, change rate x1/2",
}

#: By measure: the expectation whose edge the study finds, and the sign before a value that is not proved to be the
#: worst.
MEASURES = {"utilisation": "utilisation >= 50%", "delay": "delay <= 2 rtt", "loss": "loss <= 10%"}
BUSY = " while no app_limited"
UNITS = {"utilisation": " %", "delay": " R_m", "loss": " %"}
TIMEOUT = 60
REFUSED = "refused"


def keys(names):
    """Yield the keys of every cell."""
    for network in NETWORKS:
        for name in names:
            for measure in MEASURES:
                yield {"controller": name, "network": network, "measure": measure}


def find(controller, network, measure, folder, timeout):
    """Return the edge of a cell and the time of the search, or the reason `why` the question is refused."""
    begin = process_time()
    try:
        expected = MEASURES[measure] + (BUSY if (network, measure) == ("pauses", "utilisation") else "")
        start = START.get(controller, "converged")
        question = cm.ask(controller, NETWORKS[network], expected, start=start, horizon=HORIZON.get(controller))
        worst = cm.worst(question, solver=cm.SolverOptions(timeout=timeout))
    except InputError as error:
        return {"verdict": REFUSED, "why": error.message}
    if worst.trace:
        worst.trace.save(folder / f"{controller}-{network}-{measure}.json".replace(" ", "_"))
    times = {"processor_seconds": round(process_time() - begin, 2), "load": round(os.getloadavg()[0], 1)}
    return cells.edge(worst) | times


def cell_text(cell):
    """Return a cell of a table."""
    unit = UNITS[cell["measure"]]
    if cell["verdict"] == REFUSED:
        return "–"
    if cells.is_decided(cell):
        return f"{_number(cell['none'] or cell['some'])}{unit}"
    if cell["some"] is not None:
        return f"found {_number(cell['some'])}{unit}"
    return "timed out"


def _number(value):
    return f"{float(Fraction(value)):g}"


def tables(results):
    """Yield each measure and its table in Markdown, with a row for each controller and a column for each network."""
    for measure in MEASURES:
        mine = {(cell["controller"], cell["network"]): cell for cell in results if cell["measure"] == measure}
        names = dict.fromkeys(name for name, _ in mine)
        lines = ["| controller | " + " | ".join(NETWORKS) + " |", "|---" * (1 + len(NETWORKS)) + "|"]
        for name in names:
            lines.append("| " + " | ".join([name, *(cell_text(mine[name, network]) for network in NETWORKS)]) + " |")
        yield measure, "\n".join(lines)


def times(results):
    """Return the table of times: decided cells, and the median of their processor seconds, for each network."""
    lines = ["| network | cells decided | median time | compared with CCAC |", "|---|---|---|---|"]
    medians = {}
    for network in NETWORKS:
        asked = [cell for cell in results if cell["network"] == network and cell["verdict"] != REFUSED]
        decided = [cell for cell in asked if cells.is_decided(cell)]
        if not decided:
            lines.append(f"| {network} | 0 of {len(asked)} | – | – |")
            continue
        medians[network] = median(cell["processor_seconds"] for cell in decided)
        ratio = medians[network] / medians[next(iter(NETWORKS))]
        decisions = f"{len(decided)} of {len(asked)} | {medians[network]:.2g} s of processor time"
        lines.append(f"| {network} | {decisions} | {ratio:.2g} × |")
    return "\n".join(lines)


def main():
    """Compute the missing cells, and print the tables."""
    options = cells.arguments(__doc__, CONTROLLERS, folder="networks", timeout=TIMEOUT, each="x of a search")
    results = cells.results(
        keys(options.controllers),
        options.folder / "networks.json",
        lambda cell: find(**cell, folder=options.folder, timeout=options.timeout),
        cell_text,
        lambda cell: cells.is_decided(cell),
    )
    for measure, table in tables(results):
        print(f"{measure}:\n\n{table}\n")
    print(times(results))


if __name__ == "__main__":
    main()
