"""What a run is summed up in: utilisation, queueing delay, losses, round trips; in all and of each flow."""

from io import StringIO

import numpy as np
from rich.console import Console
from rich.table import Table

from ccmatic import records
from ccmatic.emulate.link import ENDLESS, SECOND

MS = SECOND // 1000


def measures(emulation, start):
    """The records.MeasuresFile of what happened from `start` seconds on."""
    link, delivered = emulation.link, {}
    if link.schedule:
        delivered = dict(zip(("trace", "emulated"), _beside_schedule(emulation), strict=True))
    return records.MeasuresFile(
        **summed_up(emulation, emulation.log, start),
        valid=not emulation.faults,
        faults=emulation.faults,
        seconds=emulation.duration / SECOND,
        from_seconds=start,
        link=_describe(link),
        flows=[
            records.FlowMeasures(**summed_up(emulation, emulation.log[emulation.log["flow"] == i], start), flow=name)
            for i, name in enumerate(emulation.flows)
        ],
        **delivered,
        lateness_ms=records.Lateness(*(_percentile(emulation.lateness, p, MS) for p in (50, 99, 100))),
        real_time=emulation.real_time,
        cpu=emulation.cpu,
    )


def _beside_schedule(emulation):
    """The records.Delivery that the schedule foretells, and that of what happened."""
    schedule, log = emulation.link.schedule, emulation.log
    released = log["released"][log["released"] >= 0]
    sizes = np.concatenate(([0], np.cumsum(log["size"][log["released"] >= 0])))
    delivered = [int(sizes[np.searchsorted(released, time, side="right")]) for time, _, _ in schedule.points]
    lost = int(log["size"][(log["lost"] != 0) & (log["arrival"] <= schedule.duration)].sum())
    capacity = float(schedule.rate * schedule.duration) / SECOND
    for column, bytes_lost in (([point[2] for point in schedule.points], schedule.lost), (delivered, lost)):
        yield records.Delivery((column[-1] - column[0]) / capacity, bytes_lost, column)


def _describe(link):
    return records.LinkRecord(
        rates=[records.RateRecord(time / SECOND, bits) for time, bits in link.rates],
        rtt_ms=link.rtt / MS,
        buffer_bytes=None if link.buffer == ENDLESS else link.buffer,
        bdp_bytes=float(link.bdp),
        jitter_ms=link.jitter / MS,
        pattern=link.pattern,
        seed=link.seed,
        scheduled=link.schedule is not None,
        **({"opportunities": len(link.opportunities.milliseconds)} if link.opportunities else {}),
    )


def summed_up(emulation, log, start):
    """The fields of records.Measures, by name, of some of the packets from `start` seconds on."""
    link, end = emulation.link, emulation.duration
    begin = int(start * SECOND)
    capacity = link.capacity(begin, end) / (8 * SECOND)
    lost, admitted = log["lost"] != 0, log["admitted"]
    served = int(log["size"][~lost & (admitted > begin) & (admitted <= end)].sum())
    came = log["arrival"] >= begin
    waits = (admitted - log["arrival"])[came & ~lost]
    trips = (log["released"] - log["arrival"])[came & (log["released"] >= 0)]
    drops = log["arrival"][came & lost]
    return {
        "utilisation": served / capacity,
        "mbit_per_second": served * 8 / (end - begin) * SECOND / 1e6,
        "queueing_delay_ms": _spread(waits, MS),
        "queueing_delay_rm": _spread(waits, link.rtt),
        "rtt_ms": _spread(trips, MS),
        "packets": int(came.sum()),
        "lost": len(drops),
        "lost_mean_in_rm": len(drops) * link.rtt / (end - begin),
        "lost_max_in_rm": most_within(drops, link.rtt),
    }


def most_within(instants, length):
    """The most of the instants, in order, that lie in any window of that length, its end left out."""
    return int((np.searchsorted(instants, instants + length) - np.arange(len(instants))).max(initial=0))


def _spread(values, unit):
    mean = float(np.mean(values)) / unit if len(values) else None
    return records.Spread(mean, _percentile(values, 95, unit), _percentile(values, 100, unit))


def _percentile(values, percent, unit):
    return float(np.percentile(values, percent)) / unit if len(values) else None


def as_text(found):
    """A records.MeasuresFile as a table for people, one row a flow and one for all, and what the run was worth."""
    grid = Table(box=None, header_style="bold", pad_edge=False)
    grid.add_column("flow")
    heads = ("Mbit/s", "utilisation", "queue: mean", "p95", "max ms", "mean", "p95", "max R_m", "RTT: mean", "p95",
             "max ms", "lost", "mean in R_m", "max in R_m")  # fmt: skip
    for head in heads:
        grid.add_column(head, justify="right", no_wrap=True)
    for flow in found.flows:
        grid.add_row(flow.flow, *_cells(flow))
    if len(found.flows) > 1:
        grid.add_row("all", *_cells(found))
    out = StringIO()
    console = Console(file=out, width=200, highlight=False)
    console.print(_heading(found))
    console.print(grid)
    if found.trace:
        console.print(_beside(found.trace, found.emulated))
    console.print(_worth(found))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _cells(row):
    spreads = row.queueing_delay_ms, row.queueing_delay_rm, row.rtt_ms
    yield f"{row.mbit_per_second:.2f}"
    yield f"{row.utilisation:.1%}"
    yield from (_short(value) for spread in spreads for value in (spread.mean, spread.p95, spread.max))
    yield f"{row.lost} of {row.packets}"
    yield _short(row.lost_mean_in_rm)
    yield str(row.lost_max_in_rm)


def _beside(trace, emulated):
    return (
        f"utilisation {emulated.utilisation:.1%} (the trace: {trace.utilisation:.1%}), "
        f"{emulated.lost_bytes} bytes lost (the trace: {trace.lost_bytes})"
    )


def _short(value):
    return "-" if value is None else f"{value:.2f}"


def _heading(found):
    link = found.link
    rates = ", then ".join(
        f"{rate.bits_per_second / 1e6:g} Mbit/s" + (f" from {rate.from_seconds:g} s" if i else "")
        for i, rate in enumerate(link.rates)
    )
    if link.opportunities:
        rates += f" on average ({link.opportunities} opportunities)"
    buffer = link.buffer_bytes
    size = "infinite buffer" if buffer is None else f"buffer {buffer} bytes ({buffer / link.bdp_bytes:.3g} BDP)"
    jitter = "by schedule" if link.scheduled else f"jitter {link.jitter_ms:g} ms ({link.pattern})"
    if link.pattern == "none" and not link.scheduled:
        jitter = "no jitter"
    window = f"{found.from_seconds:.3g} to {found.seconds:g} s"
    return f"{rates}, R_m {link.rtt_ms:g} ms, {size}, {jitter}; measured from {window}"


def _worth(found):
    late, priority = found.lateness_ms, "real-time" if found.real_time else "no real-time priority"
    cost = f"lateness ms: p50 {_short(late.p50)}, p99 {_short(late.p99)}, max {_short(late.max)}"
    verdict = "valid" if found.valid else f"NOT VALID: {'; '.join(found.faults)}"
    return f"{verdict}; {cost}; {found.cpu:.0%} of a processor, {priority}"
