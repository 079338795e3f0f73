"""The figures of an evaluation: a summary (as Figure 9), every run (Figures 15, 16), and convergence (18, 19)."""

from ccmatic.evaluation.runs import BETWEEN, SECONDS, bounds
from ccmatic.networks import traces
from ccmatic.networks.traces import QUIET
from ccmatic.records import ABSENT

#: The colours of the senders, in order.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

#: The measures to draw, by name: the value in a row, the label of the axis, the name of the bound, and the axis
#: scale.
MEASURES = {
    "utilisation": (lambda row: row.utilisation, "share of the link", "utilisation", "linear"),
    "queueing": (lambda row: row.queueing_delay_rm.p95, "queueing delay, 95th percentile (R_m)", None, "linear"),
    "loss": (lambda row: row.lost_max_in_rm, "packets lost within an R_m, most", None, "symlog"),
    "inflight": (lambda row: row.inflight_max_bdp, "inflight, most (C·R_m)", "inflight_bdp", "linear"),
    "loss_in_step": (lambda row: row.lost_max_in_step, "packets lost within a step, most", "lost_in_step", "symlog"),
}


def draw(rows, folder, suffix=".png"):
    """Draw every figure for which the ResultRecords contain data, and return the files."""
    files = []
    for stack in ("simulated", "real"):
        steady = [row for row in rows if row.stack == stack and len(row.rates_mbit) == 1]
        moving = [row for row in rows if row.stack == stack and len(row.rates_mbit) > 1]
        for jitter in sorted({row.jitter for row in steady}):
            chosen = [row for row in steady if row.jitter == jitter]
            files.append(folder / f"summary_{stack}_{jitter}{suffix}")
            _summary(chosen, files[-1])
            for measure in MEASURES:
                if all(MEASURES[measure][0](row) not in (None, ABSENT) for row in chosen):
                    files.append(folder / f"{measure}_{stack}_{jitter}{suffix}")
                    _every_run(chosen, measure, files[-1])
        if moving:
            files.append(folder / f"convergence_{stack}{suffix}")
            _convergence(moving, files[-1])
    return files


def _senders(rows):
    return {sender: COLOURS[i % len(COLOURS)] for i, sender in enumerate(dict.fromkeys(row.sender for row in rows))}


def _summary(rows, file):
    """Draw each sender's worst run: utilisation, delay and losses, for all buffers and for shallow ones only."""
    with traces.figure(file, (9, 3.4)) as figure:
        panels = figure.subplots(1, 3)
        for axes, measure, worst in zip(panels, ("utilisation", "queueing", "loss"), (min, max, max), strict=True):
            value, label, _, scale = MEASURES[measure]
            for place, (sender, colour) in enumerate(_senders(rows).items()):
                mine = [row for row in rows if row.sender == sender]
                shallow = [row for row in mine if row.buffer_bdp <= 1]
                for shift, chosen, alpha in ((-0.2, mine, 1.0), (0.2, shallow, 0.45)):
                    if chosen:
                        axes.bar(place + shift, worst(map(value, chosen)), 0.36, color=colour, alpha=alpha)
            axes.set_xticks(range(len(_senders(rows))), _senders(rows), rotation=20, ha="right")
            axes.set_yscale(scale)
            axes.set_title(f"{label}\n{'least' if worst is min else 'most'} of all runs; pale: β ≤ 1 BDP", fontsize=8)
            axes.spines[["top", "right"]].set_visible(False)


def _every_run(rows, measure, file):
    """Draw a panel for each pair of a rate and an R_m, with the buffer on the x-axis.

    Dashed lines are proved bounds.
    """
    value, label, bound, scale = MEASURES[measure]
    rates, rtts = sorted({row.rates_mbit[0] for row in rows}), sorted({row.R_m_ms for row in rows})
    with traces.figure(file, (3 * len(rtts) + 1.6, 2.1 * len(rates) + 0.8)) as figure:
        panels = figure.subplots(len(rates), len(rtts), sharex=True, sharey=True, squeeze=False)
        for axes, (rate, rtt) in zip(panels.flat, ((rate, rtt) for rate in rates for rtt in rtts), strict=True):
            here = [row for row in rows if row.rates_mbit[0] == rate and row.R_m_ms == rtt]
            for sender, colour in _senders(rows).items():
                mine = sorted((row for row in here if row.sender == sender), key=lambda row: row.buffer_bdp)
                sizes = [row.buffer_bdp for row in mine]
                axes.plot(sizes, [value(row) for row in mine], marker="o", markersize=3, color=colour, label=sender)
                proved = [_bound(row, bound) for row in mine]
                axes.plot(sizes, proved, linestyle="--", marker="_", color=colour, linewidth=1)
            axes.set_title(f"{rate} Mbit/s, R_m {rtt} ms", fontsize=8)
            axes.set_xscale("log", base=2)
            axes.set_yscale(scale)
            axes.set_ylim(bottom=0)
            axes.grid(color="#e6e6e6", linewidth=0.7)
            axes.spines[["top", "right"]].set_visible(False)
        panels[0][-1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1), title="dashed: proved")
        figure.supxlabel("buffer (BDP)")
        figure.supylabel(label)


def _bound(row, name):
    if not name or row.stack != "simulated":
        return float("nan")
    bound = getattr(bounds(row.sender, row.buffer_bdp, row.at_start), name)
    return float("nan") if bound is None else bound


def _convergence(rows, file):
    changes = sorted({tuple(row.rates_mbit) for row in rows})
    with traces.figure(file, (8, 2.6 * len(changes))) as figure:
        panels = figure.subplots(len(changes), 1, squeeze=False, sharex=True)
        for axes, rates in zip(panels.flat, changes, strict=True):
            times = [i * BETWEEN for i in range(len(rates))]
            axes.step([*times, SECONDS], [*rates, rates[-1]], where="post", color=QUIET, linestyle="--", label="link")
            for sender, colour in _senders(rows).items():
                for row in rows:
                    if row.sender == sender and tuple(row.rates_mbit) == rates:
                        halves = [0.25 + i / 2 for i in range(len(row.delivered_mbit))]
                        axes.plot(halves, row.delivered_mbit, color=colour, linewidth=1, label=sender)
            axes.set_ylabel("Mbit/s delivered")
            axes.set_ylim(bottom=0)
            axes.spines[["top", "right"]].set_visible(False)
        panels.flat[0].legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
        panels.flat[-1].set_xlabel("time (s)")
