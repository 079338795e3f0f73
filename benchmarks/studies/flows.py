"""What two flows leave each other: a table.

    python -m benchmarks.studies.flows [--folder FOLDER] [--timeout SECONDS] [CONTROLLER …]

Of each controller, beside each: the least share of what the link serves that the network can force on the first, on
`two_flows_constant_rate` with a buffer of C·R_m: over one window of 7 steps from an empty start, in which each sends
C·R_m/2 in the first step and both send alike until both decide; and for ever, in executions that repeat themselves
every 4 steps, of which those that do so every step or two are asked about first, as they are sooner found. Beliefs are
true at first. "0.1 … 0.15" is an edge: nothing is below the first number, and a trace is below the second; "< 0.05": a
trace is below the least that is asked about.

FOLDER/flows.json has what is found so far, from which the same command goes on: what was not told in time is asked
again. The traces are beside it.
"""

from contextlib import suppress
from itertools import product

import ccmatic as cm
from benchmarks.lib import cells
from ccmatic.analysis.worst_case import NoExecution

CONTROLLERS = ("aimd", "copa", "bbr", "cc_qdel_sender", "cc_probe_slow_sender")
HOW = ("for ever", "one window")
HORIZON, LEAST = 8, "1/20"

#: In steps, for ever: what repeats itself every step or two does so every four.
PERIODS = (1, 2, 4)

#: What is given: packets that are not large; the share is that of the first; and of one window, how it begins.
SMALL, LESSER = "alpha < 1/4", "S_f[0][-1] - S_f[0][0] <= S_f[1][-1] - S_f[1][0]"
ALIKE = "A_f[0][1] - A_f[0][0] == C * R / 2; ALLT(0, {}, lambda t: A_f[0][t] == A_f[1][t])"

#: That what it believes is true, until both decide; and in one window, that it has not seen for how long all was calm.
BELIEVED = {"cc_qdel_sender": "C_L_f[{}][t] <= C", "cc_probe_slow_sender": "C_Llambda_f[{}][t] <= C"}
SEEN = {"cc_probe_slow_sender": "calm_f[{}][t] == 0"}


def find(first, second, how, folder, timeout):
    """What is found: `none` and `some`, text or None, with the verdict; or `why` there is nothing to be found."""
    try:
        worst = (for_ever if how == "for ever" else least_share)([first, second], timeout)
    except NoExecution:
        return {"why": "no such execution"}
    if worst.trace:
        worst.trace.save(folder / f"{first}-{second}-{how.replace(' ', '_')}.json")
    return cells.edge(worst)


def for_ever(names, timeout):
    """The Worst for ever: of a short period, if one of that is below the least that is asked about."""
    for period in PERIODS[:-1]:
        with suppress(NoExecution):
            worst = least_share(names, timeout, period, high=LEAST)
            if worst.some:
                return worst
    return least_share(names, timeout, PERIODS[-1])


def least_share(names, timeout, period=None, high="1/2"):
    """The Worst of the first one's share, from LEAST to `high`. Raises NoExecution."""
    network = cm.Network("two_flows_constant_rate", "1", 2 * PERIODS[-1] + 1 if period else HORIZON, delay="executions")
    steps, given = undecided(names, network), [SMALL, LESSER]
    for kept in (BELIEVED,) if period else (BELIEVED, SEEN):
        begins = [kept[name].format(n) for n, name in enumerate(names) if name in kept]
        given += [f"ALLT(0, {steps}, lambda t: {condition})" for condition in begins]
    if not period:
        given.append(ALIKE.format(steps))
    asked = {"given": "; ".join(given), "period": period, "start": "any" if period else "empty"}
    among = {"low": LEAST, "high": high, "resolution": LEAST}
    return cm.worst(names, network, "share", **asked, **among, solver=cm.SolverOptions(timeout=timeout))


def undecided(names, network):
    """How many steps pass before all of them decide, two at least."""
    query = cm.Query(network, "avoids", what="T < 0")
    controllers = query.controller(names)
    flows = query.execution(state=controllers.state).flows
    return max(2, *(each.first_decision(flow) for each, flow in zip(controllers.each, flows, strict=True)))


def told(cell):
    """A cell of the table, in a few characters."""
    return cells.text(cell, "<")


def table(found, names=CONTROLLERS):
    """A table for each of HOW, Markdown: a row for each controller, a column for each that it is beside."""
    lines = []
    for how in HOW:
        known = {(cell["first"], cell["second"]): told(cell) for cell in found if cell["how"] == how}
        heads = [f"beside {name}" for name in names]
        lines += [f"| {how} | " + " | ".join(heads) + " |", "|---" * (1 + len(heads)) + "|"]
        told_of = {name: [known.get((name, other), "not asked") for other in names] for name in names}
        lines += [f"| {name} | " + " | ".join(row) + " |" for name, row in told_of.items()]
        lines.append("")
    return "\n".join(lines)


def main():
    """Find what is not known yet, and print the table."""
    asked = cells.arguments(__doc__, CONTROLLERS, folder="flows", timeout=60)
    every = product(HOW, asked.controllers, asked.controllers)
    found = cells.results(
        [{"first": first, "second": second, "how": how} for how, first, second in every],
        asked.folder / "flows.json",
        lambda cell: find(**cell, folder=asked.folder, timeout=asked.timeout),
        told,
        cells.told_in_time,
    )
    print(table(found, asked.controllers))


if __name__ == "__main__":
    main()
