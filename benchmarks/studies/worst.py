"""The worst that networks can do to controllers: a table, and a figure.

    python -m benchmarks.studies.worst [--folder FOLDER] [--timeout SECONDS] [CONTROLLER …]

Of each controller, on each model and buffer (C·R_m): the least utilisation, the most that is lost in an R_m, and the
most that waits (C·R_m), over one window of 5 steps from an empty start, and for ever, in executions that repeat
themselves. Senders by a window are on `ideal_windows` where it says `ideal`, and so on. "1 … 0.95" is an edge: nothing
is worse than the first number, and a trace is worse than the second.

FOLDER/worst.json has what is found so far, from which the same command goes on; the traces are beside it. At the end
worst.svg is drawn.
"""

from fractions import Fraction
from itertools import groupby

import ccmatic as cm
from benchmarks.lib import cells
from ccmatic import traces
from ccmatic.analysis.worst_case import NoExecution
from ccmatic.base import InputError

COPAS = ("copa", "copa_stalls")
WINDOWS = ("constant_window", "aimd", *COPAS, "bbr", "bbr_v1", "cubic", "vegas", "illinois", "lp", "rocc")
CONTROLLERS = (*WINDOWS, "cc_qdel", "cc_probe_slow", "wide_qdel")
MODELS = ("ideal", "cbr_delay", "ccac", "ccac2021", "ccac2021_non_composing")
BUFFERS = ("infinite", "2", "1", "1/4")
MEASURES = {"utilisation": {}, "loss": {"high": 4}, "queue": {"high": 8}}
HORIZON, RESOLUTION = 6, "1/20"

#: After how many steps each may be as it was: BBR's cycle has 4, or 8; a window that goes up and down needs them even.
PERIODS = {**dict.fromkeys(WINDOWS, 4), **dict.fromkeys(COPAS, 6), "bbr_v1": 8, "constant_window": 3}
PERIOD = 3

COLOURS = {"one window": traces.NETWORK, "for ever": traces.SENDER}

#: What is given: packets that are not large, or the window, which is a packet. In one window a sender that has a window
#: begins with C·R_m at most, for two steps, and until it has seen enough to decide.
PACKETS = {"constant_window": "alpha == 2"}
SMALL, BEGINS = "alpha < 1/4", "ALLT(0, {}, lambda t: c_f[0][t] <= C * R)"


def every(names):
    """The keys of every cell."""
    for name in names:
        for model in MODELS:
            for buffer in BUFFERS:
                for of in MEASURES:
                    for how in COLOURS:
                        yield {"controller": name, "model": model, "buffer": buffer, "of": of, "how": how}


def find(cell, folder, timeout):
    """What is found: `none` and `some`, text or None, with the verdict; or `why` there is nothing to be found."""
    name, period = cell["controller"], None
    if cell["how"] == "for ever":
        period = PERIODS.get(name, PERIOD)
    horizon = HORIZON if period is None else 2 * period + 1
    model = cell["model"] if name not in WINDOWS or "2021" in cell["model"] else f"{cell['model']}_windows"
    network = cm.Network(model, cell["buffer"], horizon, delay="executions")
    query = cm.Query(network, "avoids", what="T < 0")
    try:
        controller = cm.load_controller(name, query)
    except InputError:
        return {"why": "not for this model"}
    given = [PACKETS.get(name, SMALL)] if network.model.windows else []
    if given and period is None and name not in PACKETS:
        given.append(BEGINS.format(max(2, undecided(controller, query))))
    asked = {"given": "; ".join(given), "period": period, "start": "any" if period else "empty"}
    try:
        worst = cm.worst(
            name,
            network,
            cell["of"],
            **asked,
            **MEASURES[cell["of"]],
            resolution=RESOLUTION,
            solver=cm.SolverOptions(timeout=timeout),
        )
    except NoExecution:
        return {"why": "no such execution"}
    if worst.trace:
        worst.trace.save(folder / f"{'-'.join(cell.values()).replace('/', '_').replace(' ', '_')}.json")
    return cells.edge(worst)


def undecided(controller, query):
    """How many steps pass before a controller decides, its state being as at first."""
    laws = controller.laws(query.execution(state=controller.state).flows[0])
    return len({t for name, t, _ in laws if name.endswith("_is_as_at_first")})


def told(cell):
    """A cell of the table, in a few characters: the two sides of the edge, the one that is forced last."""
    return cells.text(cell, "<" if cell["of"] == "utilisation" else ">")


def rows(found):
    """(controller, model, buffer, its cells) for those that there is anything to be found of."""
    for key, several in groupby(found, lambda cell: (cell["controller"], cell["model"], cell["buffer"])):
        mine = list(several)
        if any(cell.get("why") != "not for this model" for cell in mine):
            yield *key, mine


def table(found):
    """The table, Markdown."""
    heads = [f"{of}, {how}" for of in MEASURES for how in COLOURS]
    lines = ["| controller | model | buffer | " + " | ".join(heads) + " |", "|---" * (3 + len(heads)) + "|"]
    for *key, mine in rows(found):
        lines.append("| " + " | ".join([*key, *map(told, mine)]) + " |")
    return "\n".join(lines)


def draw(found, file):
    """Each edge as a line between its sides, for one window and, below it, for ever; an arrow where the range ends."""
    shown = list(rows(found))
    with traces.figure(file, (10, 1 + 0.24 * len(shown))) as figure:
        panels = figure.subplots(1, len(MEASURES), sharey=True)
        for axes, of in zip(panels, MEASURES, strict=True):
            for place, (*_, mine) in enumerate(shown):
                for cell in mine:
                    if cell["of"] == of and (cell.get("none") or cell.get("some")):
                        _edge(axes, place, cell)
            axes.set(xlabel=of + ("" if of == "utilisation" else " (C·R_m)"))
            axes.grid(alpha=0.3)
        for how, colour in COLOURS.items():
            panels[0].plot([], [], color=colour, linewidth=3, label=how)
        figure.legend(loc="outside upper center", ncols=2)
        panels[0].set_yticks(range(len(shown)), [" ".join(key) for *key, _ in shown], fontsize=7)
        panels[0].invert_yaxis()


def _edge(axes, place, cell):
    low, high = sorted(float(Fraction(x)) for x in (cell["none"] or cell["some"], cell["some"] or cell["none"]))
    beyond = cell["none"] is None and cell["of"] != "utilisation"
    y, colour = place + (0.15 if cell["how"] == "for ever" else -0.15), COLOURS[cell["how"]]
    axes.plot([low, high], [y, y], color=colour, linewidth=3)
    axes.plot(high, y, ">" if beyond else "o", color=colour, markersize=4)


def main():
    """Find what is not known yet; print the table, and draw."""
    asked = cells.arguments(__doc__, CONTROLLERS, folder="worst", timeout=30)
    found = cells.results(
        every(asked.controllers),
        asked.folder / "worst.json",
        lambda cell: find(cell, asked.folder, asked.timeout),
        told,
    )
    print(table(found))
    draw(found, asked.folder / "worst.svg")


if __name__ == "__main__":
    main()
