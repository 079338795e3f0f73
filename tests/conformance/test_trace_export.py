"""Exports of traces, measured: small links that follow an exported file, fed with the trace's arrivals, deliver what
the trace serves."""

import csv
import json
from fractions import Fraction
from io import BytesIO
from itertools import accumulate
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccmatic import controllers as cca
from ccmatic.answers.verification.judgement import Judge
from ccmatic.base.errors import InputError
from ccmatic.networks.simulation import paths
from ccmatic.networks.simulation.simulator import simulate
from ccmatic.networks.trace_export import FORMATS, Scale, Schedule, export
from ccmatic.networks.traces.trace import Trace
from ccmatic.questions import query as queries
from support.benchmarks import saved_traces
from support.failures import WRONG
from support.links import (
    DRAIN,
    MS,
    OPPORTUNITY,
    SCALE,
    SMALL,
    Flow,
    as_mahimahi,
    check_losses,
    check_mahimahi,
    check_schedule,
    crossings,
    mahimahi,
    read_schedule,
)
from support.sampling import each_nth

#: All but one that reads beliefs of CBR-delay alone.
CONTROLLERS = [path for path in WRONG if path.stem != "blind_additive"]
#: Of models with a link: those of CCAC's published tool have no tokens.
SAVED = {
    file: trace
    for file, trace in saved_traces("results/gallery/*.json", "results/proofs/*-traces/*.json").items()
    if "K" in trace.columns
}
NETWORKS = [(model, buffer) for model in ("ccac", "cbr_delay", "ideal") for buffer in ("infinite", "1")]


@pytest.fixture(scope="module")
def found():
    """Counterexamples for each wrong controller, found now, by network."""
    return {network: list(_counterexamples(*network)) for network in NETWORKS}


def _counterexamples(model, buffer):
    query = queries.make(model=model, buffer=buffer, horizon=4)
    judge = Judge(query)
    for path in CONTROLLERS:
        trace = judge.judge(cca.load(path, query.units())).trace
        if trace:
            yield trace


@pytest.mark.parametrize("network", each_nth(4, [(network,) for network in NETWORKS]), ids=" ".join)
def test_counterexamples_are_reproduced(found, network):
    traces = found[network]
    assert len(traces) >= 6
    for trace in traces:
        check_mahimahi(trace, SCALE)
        check_schedule(trace, SCALE)
    lost = sum(map(check_losses, traces))
    assert (lost > 0) == (network[1] != "infinite")


@pytest.mark.parametrize("file", each_nth(8, [*SAVED]), ids=lambda file: f"{file.parent.stem}/{file.stem}")
def test_saved_traces_are_reproduced(file):
    """At a rate at which the buffer has room for a packet."""
    trace, rtt, packet = SAVED[file], Fraction(40, 1000), 1500
    room = trace.constants.get("beta", trace.constants["C"]) / trace.constants["C"]
    scale = Scale(Fraction(max(1_000_000, ceil(packet / room / rtt))), rtt, packet)
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


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind != "holds"])
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
    assert "840000 bytes, 560 packets, have to wait at the link when mm-link's clock starts; --lead" in notes[0]
    assert "queue drops" not in "\n".join(notes)


def test_a_lead_gives_time_to_fill_the_queue():
    """mm-link's clock starts before anything can send: the first opportunities of a queue were lost."""
    for file in (DRAIN, SMALL):
        plain, _ = export(Trace.load(file), "mahimahi", SCALE)
        shifted, notes = export(Trace.load(file), "mahimahi", SCALE, lead=700)
        assert [int(line) - 700 for line in shifted.split()] == list(map(int, plain.split()))
        assert notes[0].startswith("the trace begins 700 ms after mm-link's clock starts")
    assert "have to wait" not in notes[1]
    _, (_, queue, *notes) = export(Trace.load(DRAIN), "mahimahi", SCALE, lead=700)
    assert "840000 bytes, 560 packets, have to wait at the link then; otherwise" in queue
    assert "begins again after 941 ms; the trace ends after 940 ms" in "\n".join(notes)


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
    scale = Scale(Fraction(10**7, 3), Fraction(40, 1000), 1500)
    content, _ = export(Trace.load(file), "schedule", scale)
    (tmp_path / "schedule.csv").write_bytes(content)
    read = Schedule.load(tmp_path / "schedule.csv")
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
