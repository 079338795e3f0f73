"""Compute the worst effects that networks can have on controllers: a table, and a figure.

    python -m benchmarks.studies.worst [--folder FOLDER] [--timeout SECONDS] [CONTROLLER …]

For each controller, model and buffer (in C·R_m), the table has the lowest utilisation, the largest number of bytes lost
in an R_m, and the largest number of waiting bytes (in C·R_m). Each value is computed over one window of 5 steps from an
empty start, and over executions that repeat for ever. If the table says `ideal`, window-based senders run on
`ideal_windows`. The other models have such variants, too. Tables show the proved side of each edge: no execution is
worse, but a trace is worse than the next value of the search. The progress lines show both sides.

FOLDER/worst.json has the results so far, and the same command resumes from them. The traces are in this folder, too. At
the end, the command draws worst.svg.
"""

from fractions import Fraction
from itertools import groupby

import ccmatic as cm
from benchmarks.lib import cells
from ccmatic.answers.worst_case import NoExecution
from ccmatic.base import InputError
from ccmatic.networks import traces

COPAS = ("copa", "copa_stalls")
WINDOWS = ("constant_window", "aimd", *COPAS, "bbr", "bbr_v1", "cubic", "vegas", "illinois", "lp", "rocc")
CONTROLLERS = (*WINDOWS, "cc_qdel", "cc_probe_slow", "wide_qdel")
MODELS = ("ideal", "cbr_delay", "ccac", "ccac2021", "ccac2021_non_composing")
BUFFERS = ("infinite", "2", "1", "1/4")
MEASURES = {"utilisation": {}, "loss": {"high": 4}, "queue": {"high": 8}}
HORIZON, RESOLUTION = 6, "1/20"

#: The period of each controller in steps. BBR's cycle has 4 or 8 steps; a window that goes up and down needs an even
#: period.
PERIODS = {**dict.fromkeys(WINDOWS, 4), **dict.fromkeys(COPAS, 6), "bbr_v1": 8, "constant_window": 3}
PERIOD = 3

DURATIONS = ("one window", "for ever")

#: For the drawing: the colour of each network, and the axis of each measure.
NETWORKS = dict(zip(MODELS, (traces.TRUTH, traces.PROBE, traces.SENDER, traces.LOSS, traces.BELIEF), strict=True))
LABELS = {
    "utilisation": "lowest share of the link",
    "loss": "most bytes lost per $R_m$ (C·$R_m$)",
    "queue": "most bytes that wait (C·$R_m$)",
}
KEY = "filled: for ever; hollow: one window"

#: The conditions: packets are small, or the window is a packet. In one window, a window sender begins with at most
#: C·R_m. It keeps this limit for two steps, and until it has observed enough to decide.
PACKETS = {"constant_window": "alpha == 2"}
SMALL, BEGINS = "alpha < 1/4", "ALLT(0, {}, lambda t: c_f[0][t] <= C * R)"


def every(names):
    """Yield the keys of every cell."""
    for name in names:
        for model in MODELS:
            for buffer in BUFFERS:
                for of in MEASURES:
                    for how in DURATIONS:
                        yield {"controller": name, "model": model, "buffer": buffer, "of": of, "how": how}


def find(cell, folder, timeout):
    """Compute a cell: `none` and `some`, as text or None, with the verdict; or the reason `why` there is no result."""
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
    setting = {"given": "; ".join(given), "period": period, "start": "any" if period else "empty"}
    try:
        worst = cm.worst(
            name,
            network,
            cell["of"],
            **setting,
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
    """Return the number of steps before a controller decides. Its state does not change in these steps."""
    laws = controller.laws(query.execution(state=controller.state).flows[0])
    return len({t for name, t, _ in laws if name.endswith("_is_as_at_first")})


def cell_text(cell):
    """Return a cell of the table as short text: both sides of the edge, and last the side beyond which a trace lies."""
    return cells.text(cell, "<" if cell["of"] == "utilisation" else ">")


def rows(results):
    """Yield (controller, model, buffer, cells) for each combination with results."""
    for key, several in groupby(results, lambda cell: (cell["controller"], cell["model"], cell["buffer"])):
        mine = list(several)
        if any(cell.get("why") != "not for this model" for cell in mine):
            yield *key, mine


def tables(results):
    """Return the Markdown tables by (measure, duration), one column per buffer; models with equal rows share one."""
    shown = {(*key, cell["of"], cell["how"]): proved(cell) for *key, mine in rows(results) for cell in mine}
    models = dict.fromkeys(key[:2] for key in shown)
    lines = {}
    for of in MEASURES:
        for how in DURATIONS:
            shared = {}
            for name, model in models:
                row = tuple(shown[name, model, buffer, of, how] for buffer in BUFFERS)
                shared.setdefault((name, row), []).append(model)
            lines[of, how] = "\n".join([
                "| controller | networks | " + " | ".join(BUFFERS) + " |",
                "|---" * (2 + len(BUFFERS)) + "|",
                *("| " + " | ".join([name, ", ".join(on), *row]) + " |" for (name, row), on in shared.items()),
            ])  # fmt: skip
    return lines


def proved(cell):
    """Return the proved side of a cell: no execution is worse.

    Unless the text has a "?", some trace is worse by one RESOLUTION.
    """
    if "why" in cell:
        return "–"
    unsure = "" if cells.is_decided(cell) else " ?"
    if cell["none"] is None:
        return f"> {float(Fraction(cell['some'])):g}{unsure}" if cell["some"] else "?"
    return f"{float(Fraction(cell['none'])):g}{unsure}"


def draw(results, file):
    """Draw each edge as a line between its two sides: a panel per measure and buffer, a row per controller.

    The colour of a line shows the network. Thin lines are edges over one window. The thick lines below them are edges
    over executions that repeat. An arrow marks an open end.
    """
    names = list(dict.fromkeys(name for name, *_ in rows(results)))
    with traces.figure(file, (10, 2.2 + 0.72 * len(names))) as figure:
        panels = figure.subplots(len(MEASURES), len(BUFFERS), sharey=True, sharex="row")
        for line, (of, label) in zip(panels, LABELS.items(), strict=True):
            for axes, buffer in zip(line, BUFFERS, strict=True):
                _panel(axes, names, [c for c in results if (c["of"], c["buffer"]) == (of, buffer)])
                axes.set_xlabel(label, fontsize=8)
                size = buffer if buffer == "infinite" else f"{buffer} C·$R_m$"
                axes.set_title(f"buffer {size}", loc="left", fontsize=9, fontweight="bold")
        panels[0][0].invert_yaxis()
        keys = [panels[0][0].plot([], [], color=colour, lw=3, label=model)[0] for model, colour in NETWORKS.items()]
        figure.legend(handles=keys, loc="outside upper center", ncols=len(keys), title=KEY)


def _panel(axes, names, drawn):
    """Draw the cells of a measure and a buffer."""
    for cell in drawn:
        if cell.get("none") or cell.get("some"):
            place = names.index(cell["controller"]) + 0.16 * (list(NETWORKS).index(cell["model"]) - 2)
            _edge(axes, place, cell)
    for place in range(1, len(names)):
        axes.axhline(place - 0.5, color="#dddddd", lw=0.6)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.tick_params(labelsize=8, length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", color="#e6e6e6")


def _edge(axes, place, cell):
    low, high = sorted(float(Fraction(x)) for x in (cell["none"] or cell["some"], cell["some"] or cell["none"]))
    beyond = cell["none"] is None and cell["of"] != "utilisation"
    for_ever = cell["how"] == "for ever"
    y, colour = place + (0.04 if for_ever else -0.04), NETWORKS[cell["model"]]
    axes.plot([low, high], [y, y], color=colour, lw=2.4 if for_ever else 0.9)
    fill = colour if for_ever else "white"
    axes.plot(high, y, ">" if beyond else "o", color=colour, markersize=3.2, markerfacecolor=fill, markeredgewidth=0.8)


def main():
    """Compute the missing cells, print the table, and draw the figure."""
    options = cells.arguments(__doc__, CONTROLLERS, folder="worst", timeout=30)
    results = cells.results(
        every(options.controllers),
        options.folder / "worst.json",
        lambda cell: find(cell, options.folder, options.timeout),
        cell_text,
    )
    for (of, how), lines in tables(results).items():
        print(f"{of}, {how}", lines, "", sep="\n")
    draw(results, options.folder / "worst.svg")


if __name__ == "__main__":
    main()
