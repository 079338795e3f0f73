"""Compute a table of the least shares of the link that one flow can leave to another.

    python -m benchmarks.studies.flows [--folder FOLDER] [--timeout SECONDS] [CONTROLLER …]

A cell is about two controllers that share a link. The cell has the least share of the link's service to which the
network can force the first controller. The network is `two_flows_constant_rate` with a buffer of C·R_m. There are two
settings:

- One window of 7 steps from an empty start. Each flow sends C·R_m/2 in the first step, and both flows send equal
  amounts until both controllers have decided.
- All time, in executions that repeat themselves every 4 steps. The command first tries executions that repeat every
  step or every two steps, because the solver finds them faster.

Beliefs are initially true. "0.1 … 0.15" is an edge: no execution is below the first number, and a trace is below the
second number. "< 0.05" means that a trace is below 0.05, the smallest share of the search.

FOLDER/flows.json has the results so far. The same command resumes from them, and tries cells that timed out again. The
traces are in the same folder.
"""

from contextlib import suppress
from itertools import product

import ccmatic as cm
from benchmarks.lib import cells
from ccmatic.answers.worst_case import NoExecution

CONTROLLERS = ("aimd", "copa", "bbr", "cc_qdel_sender", "cc_probe_slow_sender")
HOW = ("for ever", "one window")
HORIZON, LEAST = 8, "1/20"

#: The periods in steps, for the second setting. An execution that repeats every step or every two steps also repeats
#: every four.
PERIODS = (1, 2, 4)

#: The conditions: packets are small, the share is that of the first flow, and (for one window) how the window begins.
SMALL, LESSER = "alpha < 1/4", "S_f[0][-1] - S_f[0][0] <= S_f[1][-1] - S_f[1][0]"
ALIKE = "A_f[0][1] - A_f[0][0] == C * R / 2; ALLT(0, {}, lambda t: A_f[0][t] == A_f[1][t])"

#: The conditions until both controllers decide: beliefs are true and, in one window, the flow has observed no quiet
#: step.
BELIEVED = {"cc_qdel_sender": "C_L_f[{}][t] <= C", "cc_probe_slow_sender": "C_Llambda_f[{}][t] <= C"}
SEEN = {"cc_probe_slow_sender": "calm_f[{}][t] == 0"}


def find(first, second, how, folder, timeout):
    """Compute a cell: `none` and `some`, as text or None, with the verdict; or the reason `why` there is no result."""
    try:
        worst = (for_ever if how == "for ever" else least_share)([first, second], timeout)
    except NoExecution:
        return {"why": "no such execution"}
    if worst.trace:
        worst.trace.save(folder / f"{first}-{second}-{how.replace(' ', '_')}.json")
    return cells.edge(worst)


def for_ever(names, timeout):
    """Return the WorstCase over repeating executions: the first period with a share below LEAST, otherwise the last."""
    for period in PERIODS[:-1]:
        with suppress(NoExecution):
            worst = least_share(names, timeout, period, high=LEAST)
            if worst.some:
                return worst
    return least_share(names, timeout, PERIODS[-1])


def least_share(names, timeout, period=None, high="1/2"):
    """Return the WorstCase of the first flow's share, from LEAST to `high`. Raises NoExecution."""
    network = cm.Network("two_flows_constant_rate", "1", 2 * PERIODS[-1] + 1 if period else HORIZON, delay="executions")
    steps, given = undecided(names, network), [SMALL, LESSER]
    for kept in (BELIEVED,) if period else (BELIEVED, SEEN):
        begins = [kept[name].format(n) for n, name in enumerate(names) if name in kept]
        given += [f"ALLT(0, {steps}, lambda t: {condition})" for condition in begins]
    if not period:
        given.append(ALIKE.format(steps))
    setting = {"given": "; ".join(given), "period": period, "start": "any" if period else "empty"}
    among = {"low": LEAST, "high": high, "resolution": LEAST}
    return cm.worst(names, network, "share", **setting, **among, solver=cm.SolverOptions(timeout=timeout))


def undecided(names, network):
    """Return the number of steps before all controllers decide, but at least two."""
    query = cm.Query(network, "avoids", what="T < 0")
    controllers = query.controller(names)
    flows = query.execution(state=controllers.state).flows
    return max(2, *(each.first_decision(flow) for each, flow in zip(controllers.each, flows, strict=True)))


def cell_text(cell):
    """Return a cell of the table as short text."""
    return cells.text(cell, "<")


def table(results, names=CONTROLLERS):
    """Return one Markdown table for each setting in HOW: a row per controller, a column per other controller."""
    lines = []
    for how in HOW:
        text_by_pair = {(cell["first"], cell["second"]): cell_text(cell) for cell in results if cell["how"] == how}
        heads = [f"next to {name}" for name in names]
        lines += [f"| smallest share, {how} | " + " | ".join(heads) + " |", "|---" * (1 + len(heads)) + "|"]
        rows = {name: [text_by_pair.get((name, other), "not searched") for other in names] for name in names}
        lines += [f"| {name} | " + " | ".join(row) + " |" for name, row in rows.items()]
        lines.append("")
    return "\n".join(lines)


def main():
    """Compute the missing cells, and print the table."""
    options = cells.arguments(__doc__, CONTROLLERS, folder="flows", timeout=60)
    every = product(HOW, options.controllers, options.controllers)
    results = cells.results(
        [{"first": first, "second": second, "how": how} for how, first, second in every],
        options.folder / "flows.json",
        lambda cell: find(**cell, folder=options.folder, timeout=options.timeout),
        cell_text,
        cells.is_decided,
    )
    print(table(results, options.controllers))


if __name__ == "__main__":
    main()
