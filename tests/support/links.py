"""Links that a trace's export is replayed on, in plain Python, and what they must deliver."""

import csv
from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise
from math import floor, lcm

from ccmatic.networks.trace_export import Scale, export
from support import ROOT

DRAIN = ROOT / "results/gallery/late_drain.json"
SMALL = ROOT / "results/gallery/cc_qdel_small_buffer.json"
MS = Fraction(1, 1000)
OPPORTUNITY = 1504
SCALE = Scale(Fraction(3_000_000), Fraction(40, 1000), 1500)


class Flow:
    """The trace's arrivals at a scale: curves as points (seconds, bytes), linear in between. `through`: A - L, `lost`:
    L, `sent`: both, from the initial queue at 0 on; `served`, `tokens`: S and K at the ends of steps.

    In a step with a loss the sender sends evenly until the buffer is full for the last time."""

    def __init__(self, trace, scale):
        step = scale.rtt / trace.constants["R_m"]
        byte = scale.rate * step
        A, S, L = (total(trace, name, byte) for name in "ASL")
        K = [value * byte for value in tokens(trace)]
        self.ends = [t * step for t in range(trace.horizon)]
        self.served, self.tokens = ([value - S[0] for value in column] for column in (S, K))
        self.through, self.lost = [(Fraction(0), A[0] - L[0] - S[0])], [(Fraction(0), Fraction(0))]
        self.sent = [(Fraction(0), A[0] - L[0] - S[0])]
        for t in range(1, trace.horizon):
            last = self.ends[t]
            if L[t] > L[t - 1]:
                beta, grown = trace.constants["beta"] * byte, K[t] - K[t - 1]
                span = (A[t] - L[t] - beta - K[t - 1]) / grown if grown else Fraction(1)
                assert 0 <= span <= 1, "the buffer is full at no time in a step with a loss"
                room = K[t - 1] + beta - (A[t - 1] - L[t - 1])
                full = room * span / (A[t] - A[t - 1] - grown * span)
                last = self.ends[t - 1] + span * step
                first = self.ends[t - 1] + full * step
                self.through.append((first, self.through[-1][1] + room + full * grown))
                self.lost.append((first, self.lost[-1][1]))
            for curve, column in ((self.through, [a - b for a, b in zip(A, L, strict=True)]), (self.sent, A)):
                shift = S[0] + (L[0] if curve is self.sent else 0)
                curve += [(at, column[t] - shift) for at in dict.fromkeys((last, self.ends[t]))]
            self.lost += [(at, L[t] - L[0]) for at in dict.fromkeys((last, self.ends[t]))]


def total(trace, name, byte=1):
    """A cumulative column of all flows together, in bytes."""
    if name in trace.columns:
        return [value * byte for value in trace.columns[name]]
    columns = (column for each, column in trace.columns.items() if each[:-1] == name and each[-1].isdigit())
    return [sum(values) * byte for values in zip(*columns, strict=True)]


def tokens(trace):
    """Tokens by each step that are not wasted later, in the trace's units."""
    if "W" in trace.columns:
        first = trace.constants.get("tokens_at_first", 0)
        came = [first + t * trace.constants["C"] - wasted for t, wasted in enumerate(trace.columns["W"])]
    else:
        came = trace.columns["S" if "G" in trace.columns else "K"]
    return [min(came[t:]) for t in range(trace.horizon)]


def crossings(points, size, first=1):
    """When a curve reaches first·size, (first+1)·size, …: in order, those from the start at the start."""
    n = first
    for (start, low), (end, high) in pairwise([(points[0][0], Fraction(0)), *points]):
        while n * size <= high:
            yield start + (n * size - low) / (high - low) * (end - start) if high > low else end
            n += 1


def departures(points, size):
    """When packets leave that leave as soon as their first byte is due; those of the start at the start."""
    n = 0
    for (start, low), (end, high) in pairwise([(points[0][0], Fraction(0)), *points]):
        while n * size < high:
            yield max(start, start + (n * size - low) / (high - low) * (end - start))
            n += 1


def mahimahi(lines, arrivals, packet, ends, room=None):
    """By the ends of steps: bytes through mm-link, those of a packet on its way included, and how many packets it
    dropped. An opportunity is for packets of earlier milliseconds; the file wraps."""
    period, opportunities = lines[-1], 0
    done = arrived = dropped = 0
    counts, drops = [], []
    waiting = list(reversed(arrivals))
    for end in ends:
        while True:
            now = lines[opportunities % len(lines)] + period * (opportunities // len(lines))
            while waiting and waiting[-1] < min(now * MS, end):
                waiting.pop()
                if room is not None and arrived + packet - done > room:
                    dropped += 1
                else:
                    arrived += packet
            if now * MS > end:
                break
            done = min(done + OPPORTUNITY, arrived)
            opportunities += 1
        counts.append(done)
        drops.append(dropped)
    return counts, drops


def read_schedule(text):
    """The header and the points (seconds, admitted, served) of a schedule."""
    comments = dict(line[2:].rsplit(" ", 1) for line in text.splitlines() if line.startswith("# "))
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    points = [(Fraction(int(row["time_ns"]), 10**9), int(row["admitted"]), int(row["served"])) for row in rows]
    return comments, points


def emulate(text, arrivals, ends):
    """Bytes delivered by the ends of steps by the emulator's link, and which arrivals it drops."""
    head, points = read_schedule(text)
    packet, rate = int(head["packet"]), int(head["rate"])
    buffer = None if head["buffer"] == "infinite" else int(head["buffer"])
    times = [at for at, *_ in points]

    def value(curve, now):
        n = bisect_right(times, now)
        if n == len(points):
            return points[-1][curve] + (now - times[-1]) * rate
        share = (now - times[n - 1]) / (times[n] - times[n - 1])
        return points[n - 1][curve] + share * (points[n][curve] - points[n - 1][curve])

    came, drops = [], []
    for now in arrivals:
        drops.append(buffer is not None and (len(came) + 1) * packet - value(1, now) > buffer)
        if not drops[-1]:
            came.append(now)
    return [min(bisect_right(came, end), value(2, end) // packet) * packet for end in ends], drops


def as_mahimahi(trace, scale):
    content, notes = export(trace, "mahimahi", scale, allow_code=True)
    lines = content.decode().splitlines()
    assert all(line.isdigit() for line in lines)
    lines = [int(line) for line in lines]
    assert lines[0] >= 1 and lines == sorted(lines)
    return lines, notes


def whole_scale(trace):
    """A scale at which all bytes of the trace are whole."""
    columns = [trace.columns[name] for name in ("A", "S", "L", "K")] + [[trace.constants.get("beta", Fraction(1))]]
    whole = lcm(*(value.denominator for column in columns for value in column))
    bdp = whole * (1 + 100_000 // whole)
    return Scale(Fraction(bdp) / SCALE.rtt, SCALE.rtt, SCALE.packet)


def check_mahimahi(trace, scale, few=2):
    """Packets that leave in time: S at each step's end, to an opportunity. Packets spaced evenly, each leaving with its
    last byte: as far off as is said, and the queue that is proposed drops as many as are lost, to a few, or fewer where
    that is said."""
    flow = Flow(trace, scale)
    lines, notes = as_mahimahi(trace, scale)
    uneven = (scale.rtt / MS).denominator > 1
    early = MS if uneven else 0
    [room] = [int(note.split('"bytes=')[1].split('"')[0]) for note in notes if '"bytes=' in note] or [None]
    arrivals = [at - early for at in departures(flow.through, scale.packet)]
    counts, _ = mahimahi(lines, arrivals, scale.packet, flow.ends)
    assert counts == [floor(served / OPPORTUNITY) * OPPORTUNITY for served in flow.served]
    [lag] = [Fraction(note.split("up to ")[1].split()[0]) for note in notes if "fall behind" in note] or [0]
    counts, drops = mahimahi(lines, list(crossings(flow.sent, scale.packet)), scale.packet, flow.ends, room)
    lost = [next(lost for at, lost in flow.lost if at == end) / scale.packet for end in flow.ends]
    fewer = any("with a shorter queue" in note for note in notes)
    assert drops[-1] - lost[-1] < few and (drops[-1] - lost[-1] >= -2 * few or fewer)
    for t, (count, served) in enumerate(zip(counts, flow.served, strict=True)):
        missing = max(0, *(drops[u] - lost[u] for u in range(t + 1))) * scale.packet
        assert served - OPPORTUNITY - lag - missing < count <= served


def check_schedule(trace, scale):
    """Arrivals spaced evenly: S at each step's end, to a packet; to two once a packet was lost."""
    flow = Flow(trace, scale)
    content, _ = export(trace, "schedule", scale)
    delivered, _ = emulate(content.decode(), list(crossings(flow.sent, scale.packet)), flow.ends)
    for t, (count, served) in enumerate(zip(delivered, flow.served, strict=True)):
        off = scale.packet if flow.lost[-1][1] == 0 else 2 * scale.packet
        assert served - off - 2 < count <= served, t


def check_losses(trace):
    """Where bytes are whole, and packets come when the trace has one more through, or lost: the link drops those and no
    others, and delivers S to a packet."""
    scale = whole_scale(trace)
    flow = Flow(trace, scale)
    content, _ = export(trace, "schedule", scale)
    through = [(at, False) for at in crossings(flow.through, scale.packet)]
    lost = [(at, True) for at in crossings(flow.lost, scale.packet)]
    arrivals = sorted(through + lost)
    delivered, drops = emulate(content.decode(), [at for at, _ in arrivals], flow.ends)
    assert drops == [gone for _, gone in arrivals]
    for count, served in zip(delivered, flow.served, strict=True):
        assert served - scale.packet < count <= served
    return len(lost)
