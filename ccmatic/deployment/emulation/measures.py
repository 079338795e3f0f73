"""The measures of a run, in total and per flow: utilisation, queueing delay, losses, and round trips."""

from itertools import pairwise

import numpy as np

from ccmatic import records
from ccmatic.base import aligned, counted
from ccmatic.deployment.emulation.link import ENDLESS, MS, SECOND
from ccmatic.proving import guarantees

#: A flow has ramped up once its rate over STRETCH R_m is at least RAMPED times its later rate.
RAMPED, STRETCH = 0.9, 10


def measures(emulation, start):
    """Return the MeasuresFile of the part of a run after the first `start` seconds."""
    link, delivered = emulation.link, {}
    if link.schedule:
        delivered = dict(zip(("trace", "emulated"), _beside_schedule(emulation), strict=True))
    return records.MeasuresFile(
        **summed_up(emulation, start),
        valid=not emulation.faults,
        faults=emulation.faults,
        seconds=emulation.duration / SECOND,
        from_seconds=start,
        link=_describe(link),
        flows=[_of_flow(emulation, flow, start) for flow in range(len(emulation.flows))],
        **delivered,
        least_jitter_ms=None if emulation.jitter is None else emulation.jitter / MS,
        **({"shares": list(_shares(emulation, start))} if len(emulation.flows) > 1 else {}),
        lateness_ms=records.Lateness(*(_percentile(emulation.lateness, p, MS) for p in (50, 99, 100))),
        real_time=emulation.real_time,
        cpu=emulation.cpu,
    )


def warm_up(emulation):
    """Return the length of a run's warm-up in seconds.

    The warm-up ends when the beliefs of all flows that start at 0 have converged. If no such flow forms beliefs, or if
    the beliefs of some flow do not converge, the warm-up is a third of the run. On a link with a schedule there is no
    warm-up.
    """
    if emulation.link.schedule:
        return 0
    at_first = [steps for (start, _), steps in zip(emulation.spans, emulation.steps, strict=True) if not start]
    converged = [steps.converged for steps in at_first if steps]
    if not converged or None in converged:
        return emulation.duration / SECOND / 3
    return max(time for _, time in converged) / SECOND


def _of_flow(emulation, flow, start):
    steps = emulation.steps[flow]
    log = emulation.log[emulation.log["flow"] == flow]
    rtt = emulation.link.rtt_of(flow)
    return records.FlowMeasures(
        **summed_up(emulation, start, flow),
        flow=emulation.flows[flow],
        R_m_ms=rtt / MS,
        ramp_seconds=_ramp(log, emulation.spans[flow], start, rtt),
        **({"beliefs": _beliefs(emulation, flow)} if steps else {}),
        **({"guard": _guard(steps)} if steps and steps.log.envelope else {}),
    )


def _guard(steps):
    off = steps.outside
    return records.GuardRecord(
        steps=len(off),
        above=int((off > 1).sum()),
        below=int((off < -1).sum()),
        most_above=float(off.max(initial=0)),
        most_below=float(-off.min(initial=0)),
    )


def _beliefs(emulation, flow):
    steps = emulation.steps[flow]
    windows, time = steps.converged or (None, None)
    return records.BeliefsRecord(
        steps=len(steps),
        judged_until_seconds=emulation.alone_until(flow) / SECOND,
        false=[_false(steps, *false_belief) for false_belief in emulation.false_beliefs[flow]],
        converged_seconds=None if time is None else time / SECOND,
        converged_windows=windows,
    )


def _false(steps, step, name, truth):
    return records.FalseBelief(
        step=step,
        seconds=int(steps.columns["time"][step]) / SECOND,
        belief=name,
        value=int(steps.columns[name][step]),
        C=float(truth.C),
        queue_bytes=float(truth.queue),
    )


def _ramp(log, span, start, rtt):
    """Return the time at which a flow had ramped up, in seconds from the beginning of `span`; None if it never did.

    A flow has ramped up when its rate over STRETCH R_m is RAMPED times its mean rate since `start`. `log` contains the
    flow's packets.
    """
    begin, end = span
    served, since = log[log["lost"] == 0], max(begin, int(start * SECOND))
    later = served["size"][(served["admitted"] > since) & (served["admitted"] <= end)].sum()
    edges = np.arange(begin, end + 1, STRETCH * rtt)
    if not later or len(edges) < 2:
        return None
    sizes, _ = np.histogram(served["admitted"], edges, weights=served["size"])
    there = np.flatnonzero(sizes >= RAMPED * later / (end - since) * STRETCH * rtt)
    return float(edges[there[0]] - begin) / SECOND if len(there) else None


def _shares(emulation, start):
    """Yield a records.SharesRecord for each period after `start` in which the same flows should send."""
    begin, end = int(start * SECOND), emulation.duration
    changes = {time for span in emulation.spans for time in span if begin < time < end}
    for now, then in pairwise([begin, *sorted(changes), end]):
        there = [first <= now and then <= last for first, last in emulation.spans]
        shares = [rate if is_there else None for rate, is_there in zip(rates(emulation, now, then), there, strict=True)]
        index = jain([rate for rate in shares if rate is not None])
        yield records.SharesRecord(now / SECOND, then / SECOND, shares, index)


def rates(emulation, begin, end):
    """Return the rate of each flow between two instants, in Mbit/s."""
    log = emulation.log
    served = log[(log["lost"] == 0) & (log["flow"] >= 0) & (log["admitted"] > begin) & (log["admitted"] <= end)]
    return [
        float(size) * 8e3 / (end - begin) for size in np.bincount(served["flow"], served["size"], len(emulation.flows))
    ]


def jain(rates):
    """Return Jain's index of fairness: 1 if all rates are equal, 1/n if one of n flows has all; None if all are 0."""
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else None


def _beside_schedule(emulation):
    """Yield the records.Delivery that the schedule predicts, and then the records.Delivery that the run measured."""
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
        **({"model": link.model.name, "store": link.store} if link.model else {}),
    )


def summed_up(emulation, start, flow=None):
    """Return the fields of records.Measures by name, from `start` seconds on, of one flow or of all.

    A schedule may keep tokens from before `start`. Bytes that are served with these tokens do not count as served.
    """
    link, end = emulation.link, emulation.duration
    begin, rtt = int(start * SECOND), link.rtt if flow is None else link.rtt_of(flow)
    chosen = slice(None) if flow is None else emulation.log["flow"] == flow
    log = emulation.log[chosen]
    capacity = link.capacity(begin, end) / (8 * SECOND)
    lost, admitted = log["lost"] != 0, log["admitted"]
    served = int(_earned_bytes(emulation, begin)[chosen][~lost & (admitted > begin) & (admitted <= end)].sum())
    came = log["arrival"] >= begin
    waits = (admitted - log["arrival"])[came & ~lost]
    trips = (log["released"] - log["arrival"])[came & (log["released"] >= 0)]
    drops = log["arrival"][came & lost]
    return {
        "utilisation": served / capacity,
        "mbit_per_second": served * 8 / (end - begin) * SECOND / 1e6,
        "queueing_delay_ms": _spread(waits, MS),
        "queueing_delay_rm": _spread(waits, rtt),
        "rtt_ms": _spread(trips, MS),
        "packets": int(came.sum()),
        "lost": len(drops),
        "lost_mean_in_rm": len(drops) * rtt / (end - begin),
        "lost_max_in_rm": most_within(drops, rtt),
    }


def _earned_bytes(emulation, begin):
    """Return the bytes of each packet that are served with tokens from after `begin`.

    A schedule may also use older tokens.
    """
    size, schedule = emulation.log["size"], emulation.link.schedule
    if not schedule:
        return size
    times, admitted, _ = zip(*schedule.points, strict=True)
    kept = np.interp(begin, times, admitted) + max(0, begin - schedule.duration) * float(schedule.rate) / SECOND
    accepted = np.cumsum(np.where(emulation.log["lost"] == 0, size, 0))
    return np.clip(accepted - int(kept), 0, size)


def most_within(instants, length):
    """Return the largest number of instants in any half-open window of this length. `instants` are in order."""
    return int((np.searchsorted(instants, instants + length) - np.arange(len(instants))).max(initial=0))


def _spread(values, unit):
    mean = float(np.mean(values)) / unit if len(values) else None
    return records.Spread(mean, _percentile(values, 95, unit), _percentile(values, 100, unit))


def _percentile(values, percent, unit):
    return float(np.percentile(values, percent)) / unit if len(values) else None


def as_text(result):
    """Return a records.MeasuresFile as text for people: a table with a row per flow and a total, then the verdict."""
    heads = ("flow", "Mbit/s", "utilisation", "queue: mean", "p95", "max ms", "mean", "p95", "max R_m", "RTT: mean",
             "p95", "max ms", "lost", "mean in R_m", "max in R_m")  # fmt: skip
    rows = [(flow.flow, *_cells(flow)) for flow in result.flows]
    if len(result.flows) > 1:
        rows.append(("all", *_cells(result)))
    beside = [_beside(result.trace, result.emulated)] if result.trace else []
    table = aligned([heads, *rows], left=1)
    sentences = [
        *map(_flow_sentence, result.flows),
        *_over_time(result),
        *([guarantees.text(result.guarantees)] if result.guarantees else []),
    ]
    return "\n".join([_heading(result), *table, *beside, *sentences, _worth(result)])


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


def _flow_sentence(flow):
    """Return a sentence that states when a flow ramped up, and whether its sender's beliefs were true."""
    parts = ["never ramped up" if flow.ramp_seconds is None else f"ramped up in {flow.ramp_seconds:.3g} s"]
    if beliefs := flow.beliefs:
        when = f"after {counted(beliefs.converged_windows, 'window')}, at {beliefs.converged_seconds or 0:.3g} s"
        parts.append(
            "beliefs had not converged" if beliefs.converged_windows is None else f"beliefs had converged {when}"
        )
        until = beliefs.judged_until_seconds
        parts.append(f"{len(beliefs.false)} were false by {until:.3g} s" if until else "they are not judged")
    if guard := flow.guard:
        above, below = f"{guard.above} above (by {guard.most_above:.1f} packets at most)", f"{guard.below} below"
        parts.append(f"of {counted(guard.steps, 'step')} {above} and {below} ({guard.most_below:.1f}) the envelope")
    return f"{flow.flow}: {'; '.join(parts)}"


def _over_time(result):
    """Yield a sentence for each period with a constant set of sending flows.

    The sentence states the rate and the share of each flow.
    """
    for part in result.shares or ():
        rates = [
            (flow, rate) for flow, rate in zip(result.flows, part.mbit_per_second, strict=True) if rate is not None
        ]
        total = sum(rate for _, rate in rates) or 1
        shares = ", ".join(f"{flow.flow} {rate:.2f} Mbit/s ({rate / total:.1%})" for flow, rate in rates)
        yield f"{part.from_seconds:.3g} to {part.until_seconds:.3g} s: {shares}; Jain's index {_short(part.jain)}"


def _short(value):
    return "-" if value is None else f"{value:.2f}"


def _heading(result):
    link = result.link
    rates = ", then ".join(
        f"{rate.bits_per_second / 1e6:g} Mbit/s" + (f" from {rate.from_seconds:g} s" if i else "")
        for i, rate in enumerate(link.rates)
    )
    if link.opportunities:
        rates += f" on average ({link.opportunities} opportunities)"
    buffer = link.buffer_bytes
    size = f"{link.store or 'buffer'} {buffer} bytes ({(buffer or 0) / link.bdp_bytes:.3g} BDP)"
    size = "infinite buffer" if buffer is None else size
    jitter = "by schedule" if link.scheduled else f"jitter {link.jitter_ms:g} ms ({link.pattern})"
    if link.pattern == "none" and not link.scheduled:
        jitter = "no jitter"
    window = f"{result.from_seconds:.3g} to {result.seconds:g} s"
    name = f"{link.model}, " if link.model else ""
    return f"{name}{rates}, R_m {link.rtt_ms:g} ms, {size}, {jitter}; measured from {window}"


def _worth(result):
    late, priority = result.lateness_ms, "real-time" if result.real_time else "no real-time priority"
    cost = f"lateness ms: p50 {_short(late.p50)}, p99 {_short(late.p99)}, max {_short(late.max)}"
    verdict = "valid" if result.valid else f"NOT VALID: {'; '.join(result.faults)}"
    jitter = f"least D {_short(result.least_jitter_ms)} ms (requested: {result.link.jitter_ms:g})"
    return f"{verdict}; {jitter}; {cost}; {result.cpu:.0%} of a processor, {priority}"
