"""Report a fit: as text for people, as lines of JSON, and as a drawing."""

import numpy as np

from ccmatic import records
from ccmatic.base import aligned, counted
from ccmatic.fitting.log import NEVER, SECOND
from ccmatic.networks import traces
from ccmatic.networks.traces import BELIEF, JITTER, NETWORK, PROBE, QUIET

#: The percentiles of windows in the report, and the jitters, in R_m, for which the report counts the windows that need
#: at most this jitter.
PERCENTS, WITHIN = (5, 50, 95), (1, 2, 4)


def lines(fitted):
    """Yield the records that `fit --json` prints: one per model, then one per window of each model."""
    yield from (_of_model(fitted, fit) for fit in fitted.fits)
    for fit in fitted.fits:
        for begin, packets, jitter, rate in zip(fit.begin, fit.packets, fit.jitters, fit.rates, strict=True):
            yield records.FitWindowLine(fit.model, float(begin), int(packets), float(jitter), _finite(rate))


def _of_model(fitted, fit):
    log, queues = fitted.log, fitted.queues
    queues = queues if queues and queues.model == fit.model else None
    return records.FitLine(
        model=fit.model,
        jitter=fit.jitter,
        rate=_finite(fit.rate),
        log=log.source,
        packets=len(log.sent),
        lost=int(log.lost.sum()),
        rtt=fitted.rtt,
        window=fitted.window,
        windows=len(fit.jitters),
        jitter_of_windows=_spread(fit.jitters),
        within={str(times): fit.within(times * fitted.rtt) for times in WITHIN},
        rate_of_windows=_spread(fit.rates[np.isfinite(fit.rates)]),
        rate_change=_spread(fit.changes()),
        longest_queue=queues.longest if queues else None,
        queue_at_losses=_spread(queues.at_losses) if queues else None,
        clocks=2 if log.two_clocks else 1,
        clock_offset=fitted.offset,
        notes=list(log.notes),
    )


def text(fitted):
    """Return the report as text for people.

    The report has a heading about the log, a table with a row per model, and sentences about the buffer and the clocks.
    """
    heads = ("model", "D ms", "C Mbit/s", "windows: D p5", "p50", "p95 ms", *(f"≤ {n} R_m" for n in WITHIN),
             "C p50 Mbit/s", "change of C: p5", "p50", "p95")  # fmt: skip
    rows = [(fit.model, *_cells(fitted, fit)) for fit in fitted.fits]
    return "\n".join([_heading(fitted), *aligned([heads, *rows], left=1), *_sentences(fitted)])


def _cells(fitted, fit):
    yield milliseconds(fit.jitter)
    yield _mbit(fit.rate)
    spread = _spread(fit.jitters)
    yield from ("-" if value is None else milliseconds(value) for value in _values(spread))
    for times in WITHIN:
        share = fit.within(times * fitted.rtt)
        yield "-" if share is None else f"{share:.1%}"
    rates = _spread(fit.rates[np.isfinite(fit.rates)])
    yield _mbit(rates.p50) if rates else "-"
    yield from ("-" if value is None else f"×{value:.3g}" for value in _values(_spread(fit.changes())))


def _heading(fitted):
    log = fitted.log
    kept = log.delivered[~log.lost]
    seconds = (kept[-1] - kept[0]) / SECOND
    steps = f"R_m {milliseconds(fitted.rtt)} ms, windows of {fitted.horizon - 1} R_m"
    return f"{log.source}: {counted(len(log.sent), 'packet')} in {seconds:.6g} s, {int(log.lost.sum())} lost; {steps}"


def _sentences(fitted):
    log = fitted.log
    if fitted.queues:
        yield _buffer(fitted.queues)
    yield from _clocks(fitted)
    if not len(fitted.fits[0].jitters):
        yield f"the log is shorter than a window of {fitted.window:.3g} s"
    waited = int((log.sent == NEVER).sum())
    if waited:
        yield f"{waited} packets are not known to have been sent: taken to have waited since before the log"
    yield from log.notes


def _clocks(fitted):
    """Yield a sentence about the clocks of the log, and about the propagation delays that the clocks allow."""
    log = fitted.log
    if fitted.offset is not None:
        where = f"{milliseconds(abs(fitted.offset))} ms {'ahead' if fitted.offset > 0 else 'behind'}"
        free = "the offset between them is free, and D is the least over all offsets"
        yield f"two clocks: {free}; if the least delay is R_m, the receiver's is {where}"
    elif log.least_delay() is None:
        yield "no clock noted when a packet was sent: propagation may be anything"
    elif log.early is not None:
        yield f"one clock: propagation is at least -({log.early / SECOND * 1e3:g} ms and the largest packet's own time)"
    else:
        yield "one clock: propagation is at least 0"


def _buffer(queues):
    longest = f"queue on a link of fixed rate: at most {queues.longest:.0f} bytes with a packet that got through"
    if not len(queues.at_losses):
        return f"{longest}, none was lost"
    least, middle, most = _values(_spread(queues.at_losses))
    return f"{longest}; before those lost p5 {least:.0f}, p50 {middle:.0f}, p95 {most:.0f} bytes"


def _values(spread):
    return (None,) * len(PERCENTS) if spread is None else (spread.p5, spread.p50, spread.p95)


def _spread(values):
    return records.Percentiles(*map(float, np.percentile(values, PERCENTS))) if len(values) else None


def _finite(rate):
    return float(rate) if np.isfinite(rate) else None


def milliseconds(seconds):
    """Return a duration as text in ms, with four digits. From 10 s on, the text has all digits of the whole number."""
    return f"{seconds * 1e3:.4g}" if seconds < 10 else f"{seconds * 1e3:.0f}"


def _mbit(rate):
    return f"{rate * 8 / 1e6:.4g}" if np.isfinite(rate) else "∞"


# ---- the drawing ----

#: The colours of the models, in order.
COLOURS = (JITTER, BELIEF, NETWORK, PROBE)


def draw(fitted, path):
    with traces.figure(path, (8, 4.8)) as figure:
        upper, lower = figure.subplots(2, sharex=True)
        panels = {"Least jitter D (ms), and R_m": upper, "Link rate C that gives it (Mbit/s)": lower}
        for title, axes in panels.items():
            axes.set_title(title, loc="left", fontweight="bold")
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(color="#e6e6e6", linewidth=0.7)
        for number, fit in enumerate(fitted.fits):
            middle, colour = fit.begin + fitted.window / 2, COLOURS[number % len(COLOURS)]
            upper.plot(middle, fit.jitters * 1e3, ".-", markersize=3, linewidth=0.7, color=colour, label=fit.model)
            lower.plot(middle, fit.rates * 8 / 1e6, ".-", markersize=3, linewidth=0.7, color=colour)
        upper.axhline(fitted.rtt * 1e3, color=QUIET, linestyle="--", linewidth=0.8)
        for axes in panels.values():
            axes.set_ylim(bottom=0)
        upper.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
        lower.set_xlabel("time (s)")
