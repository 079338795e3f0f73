"""Flows that start and stop, each with its own R_m: when they send, their share of the link, and their effect later."""

from dataclasses import replace

import numpy as np
import pytest

from ccmatic.base.errors import InputError
from ccmatic.deployment.emulation import kinds, link, measures, picture, pipeline, run
from support import cli
from support.emulations import again, in_time
from support.machine import on_time

MS = 10**6


def emulate(asked, names, seconds):
    return on_time(
        lambda: run.run_flows(asked, kinds.timetable(names, seconds), seconds),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    )


def test_a_flow_sends_in_its_turn_only(iperf3):
    """The second begins at 0.4 s and ends at 1.6 s: nothing that waits in the kernel is sent later."""
    emulation = emulate(link.of_texts("24mbit", "20ms", "1bdp"), ["cubic", "reno@400ms-1600ms,rtt=40ms"], 2.4)
    log = emulation.log
    second = log[log["flow"] == 1]
    assert len(second) > 50
    assert 400 * MS <= second["arrival"].min() < 700 * MS
    # It may still send until the kernel is told to end it.
    assert 1400 * MS < second["arrival"].max() < 1900 * MS
    assert (log["arrival"][log["flow"] == 0] > 2300 * MS).any()
    kept = log[log["lost"] == 0]
    for flow, propagation in ((0, 20 * MS), (1, 40 * MS)):
        mine = kept[kept["flow"] == flow]
        assert (mine["planned"] - mine["admitted"] == propagation).all()
        out = mine[mine["released"] >= 0]
        assert (np.diff(out["released"]) >= 0).all() and (out["released"] >= out["planned"]).all()
    assert "the log does not replay" not in emulation.faults
    found = measures.measures(emulation, 0)
    assert [flow.R_m_ms for flow in found.flows] == [20, 40]
    alone, shared, again = found.shares
    assert (alone.from_seconds, alone.until_seconds, alone.jain) == (0, 0.4, 1) and alone.mbit_per_second[1] is None
    assert (shared.until_seconds, again.until_seconds) == (1.6, 2.4) and again.mbit_per_second[1] is None
    assert shared.mbit_per_second[1] > 0 and 0.5 <= shared.jain <= 1


@pytest.mark.parametrize(
    "text, start, stop, rtt",
    [
        ("cubic", 0, None, None),
        ("cubic@0s", 0, None, None),
        ("cubic@10s-30s", 10_000 * MS, 30_000 * MS, None),
        ("cubic@500ms,rtt=80ms", 500 * MS, None, 80 * MS),
        ("udp:cc_qdel,rtt=1ms", 0, None, MS),
    ],
)
def test_a_flow_says_when_it_sends(text, start, stop, rtt, monkeypatch):
    monkeypatch.setattr(kinds, "flow", lambda name: name)
    found = kinds.request(text)
    assert (found.start, found.stop, found.rtt) == (start, stop, rtt)
    assert found.name == text and found.flow == text.partition("@")[0].partition(",")[0]


@pytest.mark.parametrize(
    "flows, said",
    [
        (["cubic@"], "cannot read the flow 'cubic@'"),
        (["cubic@1s-2s-3s"], "expected such as cubic, cubic@10s-30s"),
        (["cubic,rt=3ms"], "no congestion control 'cubic,rt=3ms'"),
        (["cubic@soon"], "cannot read 'soon'"),
        (["cubic@2s-1s"], "stops before it starts"),
        (["cubic,rtt=0ms"], "expected above 0"),
        (["cubic", "cubic@10s"], "lasts longer than the run of 10 s"),
        (["cubic", "cubic@1s-11s"], "lasts longer than the run"),
        (["cubic@1s"], "no flow starts at 0 s"),
    ],
)
def test_a_turn_that_is_none_is_one_message(flows, said):
    asked = [word for flow in flows for word in ("--flow", flow)]
    code, out, err = cli.run("emulate", "--rate", "24mbit", "--rtt", "40ms", "--buffer", "1bdp", *asked)
    assert (code, out, err.count("\n")) == (2, "", 1) and said in err


def test_fairness_has_an_index():
    assert measures.jain([3, 3, 3]) == 1
    assert measures.jain([5, 0]) == 0.5
    assert measures.jain([0, 0]) is None and measures.jain([]) is None


def test_shares_are_of_what_left_the_bottleneck():
    """Two flows send a packet each ms, the second from 0.4 s on, over a link that carries half of that."""
    asked = link.of_texts("12mbit", "10ms", "3000")
    arrivals = [(ms * MS, flow) for ms in range(1000) for flow in (0, 1) if flow == 0 or ms >= 400]
    emulation = in_time(asked, ("cubic", "reno"), arrivals, spans=((0, 1000 * MS), (400 * MS, 1000 * MS)))
    alone, shared = measures.measures(emulation, 0.2).shares
    assert (alone.from_seconds, alone.until_seconds) == (0.2, 0.4)
    assert alone.mbit_per_second == [pytest.approx(12, rel=0.01), None]
    assert sum(shared.mbit_per_second) == pytest.approx(12, rel=0.01)


def test_a_ramp_is_how_long_a_flow_takes_to_get_what_it_gets_later():
    """A packet each 4 ms in the first 0.3 s, then each ms; measured from 0.5 s on, in stretches of 10 R_m."""
    asked = link.of_texts("24mbit", "10ms", "3000")
    arrivals = [(ms * MS, 0) for ms in range(1000) if ms >= 300 or ms % 4 == 0]
    emulation = in_time(asked, ("cubic",), arrivals)
    assert measures.measures(emulation, 0.5).flows[0].ramp_seconds == 0.3
    silent = in_time(asked, ("cubic",), arrivals[:50])
    assert measures.measures(silent, 0.5).flows[0].ramp_seconds is None


@pytest.mark.parametrize("held, valid", [(0, True), (9, True), (11, False)])
@pytest.mark.parametrize("rtts", [(), (10 * MS,)], ids=["by the log", "by the link"])
def test_the_least_jitter_is_that_of_what_was_passed_on(held, valid, rtts):
    """The fiftieth packet of a hundred is held for some ms, and those after it until then; R_m is 10 ms."""
    asked = replace(link.of_texts("12mbit", "10ms", "3000"), rtts=rtts)
    made = in_time(asked, ("cubic",), [(ms * MS, 0) for ms in range(100)])
    released = made.log["released"]
    released[50:] = np.maximum(released[50:], released[50] + held * MS)
    assert again(made).jitter == pytest.approx(held * MS, abs=2)
    said = [fault for fault in again(made).faults if "least D" in fault]
    assert said == ([] if valid else ["the least D is 11.00 ms; R_m + D asked are 10 ms"])


def test_a_flow_has_no_rtt_on_a_schedule(tmp_path):
    (tmp_path / "schedule.csv").write_text(
        "# ccmatic schedule 1\n# rate 3000000\n# step 10000000\n# packet 1000\n# buffer infinite\n# queue 30000\n"
        "time_ns,admitted,served\n0,0,0\n1000000000,3000000,3000000\n"
    )
    with pytest.raises(InputError, match="a flow's rtt on a schedule"):
        pipeline.emulate(["udp:cc_qdel,rtt=80ms"], schedule=tmp_path / "schedule.csv")


def test_shares_are_drawn(tmp_path):
    asked = link.of_texts("12mbit", "10ms", "3000")
    arrivals = [(ms * MS, flow) for ms in range(1000) for flow in (0, 1) if flow == 0 or ms >= 400]
    spans = ((0, 1000 * MS), (400 * MS, 1000 * MS))
    picture.draw(in_time(asked, ("cubic", "reno"), arrivals, spans=spans), 0.1, tmp_path / "two.svg")
    picture.draw(in_time(asked, ("cubic",), arrivals[:400]), 0.1, tmp_path / "one.svg")
    two, one = ((tmp_path / name).read_text() for name in ("two.svg", "one.svg"))
    assert "Jain" in two and "Shares" in two and "Jain" not in one
