"""Exports of traces, measured: small links that follow an exported file, fed with the trace's arrivals, deliver what
the trace serves."""

import csv
import json
from bisect import bisect_right
from fractions import Fraction
from io import BytesIO
from itertools import accumulate, pairwise
from math import floor, lcm
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from ccmatic import query as queries
from ccmatic.base.errors import InputError
from ccmatic.cli.commands import cli
from ccmatic.language import controller as cca
from ccmatic.simulation import paths
from ccmatic.simulation.simulator import simulate
from ccmatic.trace_export import FORMATS, Scale, export
from ccmatic.traces.trace import Trace
from ccmatic.verification.judgement import Judge

ROOT = Path(__file__).parent.parent
#: All but one that reads beliefs of CBR-delay alone.
OTHERS = ("__init__", "blind_additive")
CONTROLLERS = sorted(path for path in (ROOT / "examples/controllers").glob("*.py") if path.stem not in OTHERS)
SAVED = sorted([*(ROOT / "docs/gallery").glob("*.json"), *(ROOT / "proofs").glob("*-traces/*.json")])
DRAIN = ROOT / "docs/gallery/late_drain.json"
SMALL = ROOT / "docs/gallery/cc_qdel_small_buffer.json"
NETWORKS = [(model, buffer) for model in ("ccac", "cbr_delay", "ideal") for buffer in ("infinite", "1")]
MS = Fraction(1, 1000)
OPPORTUNITY = 1504
SCALE = Scale(Fraction(3_000_000), Fraction(40, 1000), 1500)


@pytest.fixture(scope="module")
def found():
    """Counterexamples for each wrong controller, found now, by network."""
    return {network: list(_counterexamples(*network)) for network in NETWORKS}


def _counterexamples(model, buffer):
    query = queries.make(model=model, buffer=buffer, horizon=4)
    judge = Judge(query, solvers=("z3",), timeout=None, seed=0)
    for path in CONTROLLERS:
        trace = judge.judge(cca.load(path, query.units())).trace
        if trace:
            yield trace


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
    """Packets that leave in time: S at each step's end, to an opportunity, none dropped by the queue that is proposed.
    Packets spaced evenly, each leaving with its last byte: as far off as is said."""
    flow = Flow(trace, scale)
    lines, notes = as_mahimahi(trace, scale)
    uneven = (scale.rtt / MS).denominator > 1
    early = MS if uneven else 0
    [room] = [int(note.split('"bytes=')[1].split('"')[0]) for note in notes if '"bytes=' in note] or [None]
    arrivals = [at - early for at in departures(flow.through, scale.packet)]
    counts, _ = mahimahi(lines, arrivals, scale.packet, flow.ends)
    assert counts == [floor(served / OPPORTUNITY) * OPPORTUNITY for served in flow.served]
    [lag] = [Fraction(note.split("up to ")[1].split()[0]) for note in notes if "fall behind" in note] or [0]
    counts, dropped = mahimahi(lines, list(crossings(flow.through, scale.packet)), scale.packet, flow.ends, room)
    assert dropped == 0
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


@pytest.mark.parametrize("network", NETWORKS, ids=" ".join)
def test_counterexamples_are_reproduced(found, network):
    traces = found[network]
    assert len(traces) >= 6
    for trace in traces:
        check_mahimahi(trace, SCALE)
        check_schedule(trace, SCALE)
    lost = sum(map(check_losses, traces))
    assert (lost > 0) == (network[1] != "infinite")


@pytest.mark.parametrize("file", SAVED, ids=lambda file: f"{file.parent.stem}/{file.stem}")
def test_saved_traces_are_reproduced(file):
    trace = Trace.load(file)
    scale = Scale(Fraction(1_000_000), Fraction(40, 1000), 1500)
    check_mahimahi(trace, scale)
    check_schedule(trace, scale)


def simulated(kind, rate, buffer, seed, steps=8):
    """A packet-level execution's trace: 20 packets a step, `rate` of them sent."""
    path = paths.Path(kind, 20, jitter={"ideal": 0, "cbr_delay": 1, "ccac": 2}[kind], buffer=buffer)
    run = simulate(path, lambda seen: rate, steps, seed=seed, initial_queue=7)
    return run.trace(alpha=Fraction(1, 20))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(["ideal", "cbr_delay", "ccac"]),
    rate=st.integers(5, 45),
    buffer=st.one_of(st.none(), st.integers(10, 40)),
    seed=st.integers(0, 10**6),
    speed=st.integers(200_000, 1_500_000),
    rtt=st.fractions(Fraction(8, 1000), Fraction(60, 1000), max_denominator=30_000),
    packet=st.sampled_from([500, 1500, 1504]),
)
def test_executions_are_reproduced_at_any_scale(kind, rate, buffer, seed, speed, rtt, packet):
    trace = simulated(kind, rate, buffer, seed)
    scale = Scale(Fraction(speed), rtt, packet)
    try:
        lines, _ = as_mahimahi(trace, scale)
    except InputError as error:
        assert "the buffer is" in str(error) and buffer * speed * rtt < 20 * packet
        return
    end = (trace.horizon - 1) * rtt / MS
    assert floor(end) <= lines[-1] <= end + OPPORTUNITY / speed / MS + 2
    check_mahimahi(trace, scale)
    check_schedule(trace, scale)


def test_an_evenly_spaced_sender_can_miss_opportunities_only_where_it_is_said():
    """An idle link, whose queue is always empty: packets come with their opportunities."""
    trace = simulated("ideal", 10, None, 1)
    lines, notes = as_mahimahi(trace, SCALE)
    flow = Flow(trace, SCALE)
    counts, _ = mahimahi(lines, list(crossings(flow.through, 1500)), 1500, flow.ends)
    assert any(
        count < floor(served / OPPORTUNITY) * OPPORTUNITY for count, served in zip(counts, flow.served, strict=True)
    )
    assert any("at t = " in note and "fall behind" in note for note in notes)
    busy = simulated("ideal", 30, None, 1)
    flow, (lines, notes) = Flow(busy, SCALE), as_mahimahi(busy, SCALE)
    counts, _ = mahimahi(lines, list(crossings(flow.through, 1500)), 1500, flow.ends)
    assert not any("fall behind" in note for note in notes)
    assert counts == [floor(served / OPPORTUNITY) * OPPORTUNITY for served in flow.served]


def made(queue, origin=0):
    """A link that serves at C, behind a queue that stays as it is."""
    S = [Fraction(t) for t in range(5)]
    columns = {"A": [served + queue + origin for served in S], "S": [served + origin for served in S]}
    columns |= {"L": [Fraction(0)] * 5, "K": columns["S"], "r": [Fraction(1)] * 5}
    return Trace(5, {"C": 1, "R_m": 1, "D": 0, "MSS": Fraction(1, 50)}, columns, {"model": "ideal"})


def test_where_a_step_is_no_whole_milliseconds_opportunities_at_its_end_may_come_too_early():
    scale = Scale(Fraction(3_000_000), Fraction(409, 10_000), 1500)
    short, long = made(Fraction(2045) / 122_700), made(Fraction(4545) / 122_700)
    assert "fall behind S by up to 4500 bytes" in "\n".join(as_mahimahi(short, scale)[1])
    assert "fall behind" not in "\n".join(as_mahimahi(long, scale)[1])
    for trace in (short, long):
        check_mahimahi(trace, scale)
    flow, (lines, _) = Flow(short, scale), as_mahimahi(short, scale)
    counts, _ = mahimahi(lines, list(crossings(flow.through, 1500)), 1500, flow.ends)
    assert any(count <= served - OPPORTUNITY for count, served in zip(counts, flow.served, strict=True))


@pytest.mark.parametrize("kind", FORMATS)
def test_bytes_are_counted_from_the_first_that_waits(kind):
    here, there = (export(made(Fraction(1, 2), origin), kind, SCALE) for origin in (0, 7))
    assert here == there


def test_mahimahi_tells_what_it_leaves_out():
    _, notes = export(Trace.load(SMALL), "mahimahi", SCALE)
    text = "\n".join(notes)
    for part in ("no delay", "β is 60000 bytes", "the steps 2, 4, 5,", "mm-delay", "begins again", "4 for itself"):
        assert part in text
    assert "initial queue" not in text
    _, notes = export(Trace.load(DRAIN), "mahimahi", SCALE)
    assert "840000 bytes have to wait" in notes[0]
    assert "nothing that" not in "\n".join(notes)


def test_a_file_does_not_wrap_within_the_trace():
    """In its last step late_drain's link serves nothing; the file lasts as long all the same."""
    lines, _ = as_mahimahi(Trace.load(DRAIN), SCALE)
    assert lines[-2] == 200 and lines[-1] == 241


def test_a_schedule_has_the_format_s_lines():
    content, notes = export(Trace.load(SMALL), "schedule", SCALE)
    head, points = read_schedule(content.decode())
    assert content.decode().startswith("# ccmatic schedule 1\n# rate 3000000\n# step 40000000\n# packet 1500\n")
    assert (head["buffer"], head["queue"]) == ("60000", "0")
    assert points[0] == (0, 120_000, 0) and points[-1] == (Fraction(24, 100), 840_000, 720_000)
    assert "whole packets" in "\n".join(notes) and "= 15000 bytes" in "\n".join(notes)
    _, notes = export(Trace.load(SMALL), "schedule", Scale(Fraction(15_000, 1) / Fraction(1, 3), Fraction(1, 3), 1500))
    assert "MSS" not in "\n".join(notes) and "rounded" in notes[0]
    head, _ = read_schedule(export(Trace.load(DRAIN), "schedule", SCALE)[0].decode())
    assert (head["buffer"], head["queue"]) == ("infinite", "840000")


@pytest.mark.parametrize("file", [SMALL, DRAIN], ids=lambda file: file.stem)
def test_the_emulator_reads_a_schedule(file, tmp_path):
    schedules = pytest.importorskip("ccmatic.emulate.schedule")
    scale = Scale(Fraction(10**7, 3), Fraction(40, 1000), 1500)
    content, _ = export(Trace.load(file), "schedule", scale)
    (tmp_path / "schedule.csv").write_bytes(content)
    read = schedules.Schedule.load(tmp_path / "schedule.csv")
    head, points = read_schedule(content.decode())
    assert (read.rate, read.step, read.packet) == (Fraction(10**7, 3), 40_000_000, 1500)
    assert str(read.queue) == head["queue"] and str(read.buffer or "infinite") == head["buffer"]
    assert [(Fraction(ns, 10**9), admitted, served) for ns, admitted, served in read.points] == points


@pytest.mark.parametrize("network", NETWORKS, ids=" ".join)
def test_arrays_agree_with_each_other_and_with_the_trace(found, network):
    for trace in found[network]:
        data = json.loads(export(trace, "json", SCALE)[0])
        archive = np.load(BytesIO(export(trace, "npz", SCALE)[0]))
        text = export(trace, "csv", SCALE)[0].decode()
        rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
        assert set(archive) == {*data["arrays"], *data["constants"]} and list(rows[0]) == list(data["arrays"])
        for name, array in data["arrays"].items():
            assert archive[name].dtype == np.float64 and archive[name].shape == (trace.horizon,)
            for t, (value, exact) in enumerate(zip(array["values"], array["exact"], strict=True)):
                assert value == (None if exact is None else float(Fraction(exact)))
                assert rows[t][name] == "" if exact is None else float(rows[t][name]) == value
                assert np.isnan(archive[name][t]) if exact is None else archive[name][t] == value
        exact = {name: [value and Fraction(value) for value in a["exact"]] for name, a in data["arrays"].items()}
        bdp = SCALE.rate * SCALE.rtt
        assert exact["served_bytes"] == [value * bdp for value in trace.columns["S"]]
        assert list(accumulate(exact["service_bytes"][1:], initial=Fraction(0))) == exact["served_bytes"]
        assert exact["sending_rate_bytes_per_s"] == [value * SCALE.rate for value in trace.columns["r"]]
        assert exact["C_L_bytes_per_s"] == [value * SCALE.rate for value in trace.columns["C_L"]]
        if "qdel_L" in trace.columns:
            assert exact["qdel_L_s"] == [value * SCALE.rtt for value in trace.columns["qdel_L"]]
        assert all(0 <= held <= trace.constants["D"] * SCALE.rtt for held in exact["jitter_s"])
        assert archive["buffer_bytes"] == (np.inf if network[1] == "infinite" else 120_000)


def test_jitter_is_what_holds_bytes_back():
    """late_drain: the step of tokens given at first is served a step late; then at once; in the last step not."""
    trace = Trace.load(DRAIN)
    data = json.loads(export(trace, "json", SCALE)[0])["arrays"]
    assert data["jitter_s"]["values"] == [0.04, 0, 0, 0, 0, 0, 0.04]
    data = json.loads(export(Trace.load(SMALL), "json", SCALE)[0])["arrays"]
    assert data["jitter_s"]["values"] == [0, 0.02, 0, 0.04, 0, 0, 0.04]


def run(*arguments):
    return CliRunner().invoke(cli, ["trace", "export", *map(str, arguments)], standalone_mode=False)


AT = ("--rate", "24mbit", "--rtt", "40ms")


@pytest.mark.parametrize("kind", FORMATS)
def test_command_writes_a_file_and_says_what_is_left_out(kind, tmp_path):
    done = run(SMALL, "--format", kind, *AT, "--out", tmp_path / "out", "--json")
    answer = json.loads(done.stdout)
    assert (tmp_path / "out").read_bytes() == export(Trace.load(SMALL), kind, SCALE)[0]
    assert answer["notes"] == export(Trace.load(SMALL), kind, SCALE)[1]
    assert (answer["format"], answer["rate_bytes_per_s"], answer["rtt_s"]) == (kind, "3000000", "1/25")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    if kind != "npz":
        done = run(SMALL, "--format", kind, *AT)
        assert done.stdout.encode() == (tmp_path / "out").read_bytes()
        assert done.stderr == "".join(f"note: {note}\n" for note in answer["notes"])


def altered(tmp_path, change):
    data = json.loads(DRAIN.read_text())
    change(data)
    (tmp_path / "altered.json").write_text(json.dumps(data))
    return tmp_path / "altered.json"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--rate", "0mbit", "--rtt", "40ms"), "rate of '0mbit'; expected more than 0"),
        (("--rate", "24", "--rtt", "40ms"), "expected a rate such as 24mbit"),
        (("--rate", "24mbit", "--rtt", "0ms"), "more than 0"),
        (("--rate", "100kbit", "--rtt", "40ms"), "expected a rate of 300000bit or an rtt of 120000us"),
        (("--rate", "24mbit", "--rtt", "0.9ms"), "expected 1 ms or more"),
        ((*AT, "--mss", "1505"), "at most 1504"),
        (("--rate", "1000gbit", "--rtt", "100s"), "more than 10000000"),
        ((*AT, "--json"), "--json needs --out"),
        ((*AT, "--out", "/dev/null/x"), "cannot write"),
    ],
)
def test_bad_input_is_one_message_and_no_file(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        raise run(DRAIN, "--format", "mahimahi", *arguments).exception
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda data: data.update(format="other"), "expected a trace"),
        (lambda data: data["columns"].pop("S"), "no column S"),
        (lambda data: data["columns"]["S"].__setitem__(3, "0"), "falls at t=3"),
        (lambda data: data["columns"]["S"].__setitem__(6, "20"), "more is served than was sent"),
        (lambda data: data["constants"].update(C="0"), "the trace's C is 0"),
        (lambda data: data["columns"].pop("K"), "no column K"),
        (lambda data: data["constants"].update(beta="1/100"), "more waits than the buffer holds at t=0"),
        (lambda data: data["columns"]["L"].__setitem__(6, "1/2"), "lost though the buffer has room at t=6"),
        (lambda data: data["constants"].update(MSS="0"), "the trace's MSS is 0"),
        (lambda data: data["columns"].update(surprise=["1"] * 7), "surprise, which the model ccac does not declare"),
    ],
)
def test_what_is_no_trace_is_said_with_the_file_s_name(change, message, tmp_path):
    file = altered(tmp_path, change)
    with pytest.raises(InputError) as caught:
        raise run(file, "--format", "csv", *AT).exception
    assert message in str(caught.value) and str(caught.value).startswith(str(file))


def test_a_buffer_that_holds_no_packet_at_this_scale():
    with pytest.raises(InputError, match="the buffer is 1000 bytes, .* expected rate·rtt to be 3000 bytes or more"):
        export(Trace.load(SMALL), "csv", Scale(Fraction(50_000), Fraction(40, 1000), 1500))


def test_a_trace_altered_since_it_was_saved_is_exported_and_it_is_said(tmp_path):
    file = altered(tmp_path, lambda data: data["columns"]["S"].__setitem__(6, "13/2"))
    assert "altered" in run(file, "--format", "schedule", *AT).stderr


def test_npz_needs_a_file():
    with pytest.raises(InputError, match="npz needs --out"):
        raise run(DRAIN, "--format", "npz", *AT).exception
