"""Links that a trace's export is replayed on, in plain Python, and what they must deliver."""

import csv
from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise
from math import floor, lcm

from ccmatic.trace_export import Scale, export
from support import ROOT

DRAIN = ROOT / "docs/gallery/late_drain.json"
SMALL = ROOT / "docs/gallery/cc_qdel_small_buffer.json"
MS = Fraction(1, 1000)
OPPORTUNITY = 1504
SCALE = Scale(Fraction(3_000_000), Fraction(40, 1000), 1500)


class Flow:
    """The trace's arrivals at a scale: curves as points (seconds, bytes), linear in between. `through`: A - L, `lost`:
    L, `sent`: both, from the initial queue at 0 on; `served`: S at the ends of steps."""

    def __init__(self, trace, scale):
        byte = scale.rate * scale.rtt
        A, S, L, K = ([value * byte for value in trace.columns[name]] for name in ("A", "S", "L", "K"))
        self.ends = [t * scale.rtt for t in range(trace.horizon)]
        self.served = [value - S[0] for value in S]
        self.through, self.lost = [(Fraction(0), A[0] - L[0] - S[0])], [(Fraction(0), Fraction(0))]
        self.sent = [(end, a - L[0] - S[0]) for end, a in zip(self.ends, A, strict=True)]
        for t in range(1, trace.horizon):
            if L[t] > L[t - 1]:
                # The buffer fills at a share of the step: room grows with K, the sender sends faster.
                room = K[t - 1] + trace.constants["beta"] * byte - (A[t - 1] - L[t - 1])
                share = room / ((A[t] - A[t - 1]) - (K[t] - K[t - 1]))
                full = self.ends[t - 1] + share * scale.rtt
                self.through.append((full, self.through[-1][1] + share * (A[t] - A[t - 1])))
                self.lost.append((full, self.lost[-1][1]))
            self.through.append((self.ends[t], A[t] - L[t] - S[0]))
            self.lost.append((self.ends[t], L[t] - L[0]))


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
    """Bytes through mm-link by the ends of steps, those of a packet on its way included, and how many packets it
    dropped. An opportunity is for packets of earlier milliseconds; the file wraps."""
    period, opportunities = lines[-1], 0
    done = arrived = dropped = 0
    counts = []
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
    return counts, dropped


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
    content, notes = export(trace, "mahimahi", scale)
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


def check_mahimahi(trace, scale):
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
    counts, dropped = mahimahi(lines, list(crossings(flow.sent, scale.packet)), scale.packet, flow.ends, room)
    lost = flow.lost[-1][1] / scale.packet
    assert dropped - lost < 2 and (dropped - lost >= -4 or any("with a shorter queue" in note for note in notes))
    for count, served in zip(counts, flow.served, strict=True):
        assert served - OPPORTUNITY - lag < count <= served


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
