"""Logged beliefs of senders are checked against the actual link. A false one is reported with its position."""

from dataclasses import replace

import numpy as np
import pytest

from ccmatic import records
from ccmatic.deployment.emulation import beliefs, flows, kinds, link, measures, run
from ccmatic.deployment.exporting import header
from support.emulations import again, in_time
from support.json_schemas import validate
from support.machine import needs_bpf, on_time

MS = 10**6
#: 12 Mbit/s: a packet a ms. In steps of 20 ms C is 20 packets a step, 30000 bytes.
LINK = link.of_texts("12mbit", "10ms", "15000")
TRUE = {"C_L": 30000, "C_U": 30000, "qdel_L": 0, "qdel_U": 2, "C_Llambda": 15000, "q_U": 0}


def logged(rows, packet=1500, window=9):
    """The Steps of a sender over CBR-delay, of 20 ms each, from its beliefs at their ends."""
    model = header.make("cc_probe_slow").model
    assert [belief.name for belief in model.beliefs] == list(TRUE)
    values = {name: np.array([row[name] for row in rows]) for name in TRUE}
    times = 20 * MS * np.arange(1, len(rows) + 1)
    known = {"time": times, "step_ns": np.full(len(rows), 20 * MS), "packet": np.full(len(rows), packet)}
    return beliefs.Steps(known | values, flows.Log(None, model, window))


def of(steps, arrivals=((0, 0),), **more):
    return in_time(LINK, ("udp:cc_probe_slow", "cubic")[: 1 + max(flow for _, flow in arrivals)], arrivals,
                   steps=(steps, None)[: 1 + max(flow for _, flow in arrivals)], **more)  # fmt: skip


@pytest.mark.parametrize(
    "false",
    [
        {"C_L": 30001},
        {"C_U": 29999},
        # A rate that the buffer of 15000 bytes would not have borne: C + β is at least thrice it.
        {"C_Llambda": 15001},
        {"C_Llambda": 30001},
    ],
)
def test_a_false_bound_is_told(false):
    (name, value), *_ = false.items()
    done = of(logged([TRUE, TRUE | false, TRUE]))
    [[(step, belief, truth)]] = done.false_beliefs
    assert (step, belief, truth.C) == (1, name, 30000)
    [fault] = done.faults
    assert "udp:cc_probe_slow believed falsely in 1 of 3 steps, first at 0.040 s (step 1)" in fault
    assert f"{name} was {value}, while C was 30000 bytes a step and 0 bytes waited" in fault
    found = measures.measures(done, 0)
    validate(records.data(found), "MeasuresFile")
    [told] = found.flows[0].beliefs.false
    assert (told.step, told.belief, told.value, told.C, found.valid) == (1, name, value, 30000, False)
    assert "1 were false by 1 s" in measures.as_text(found)


def test_a_queue_is_what_waits_behind_the_packet_that_is_served():
    """Three packets come at 19.5 ms. At 20 ms one is half served."""
    burst = tuple((39 * MS // 2, 0) for _ in range(3))
    assert not of(logged([TRUE | {"q_U": 3000}]), burst).faults
    [fault] = of(logged([TRUE | {"q_U": 2999}]), burst).faults
    assert "q_U was 2999, while C was 30000 bytes a step and 3000 bytes waited" in fault
    # A sender that counts 1000 bytes of each packet has 20000 bytes a step.
    rates = {"C_L": 20000, "C_U": 20000, "C_Llambda": 10000}
    assert not of(logged([TRUE | rates | {"q_U": 2000}], 1000), burst).faults
    [fault] = of(logged([TRUE | rates | {"C_L": 20001, "q_U": 2000}], 1000), burst).faults
    assert "C_L was 20001, while C was 20000 bytes a step" in fault


def test_what_a_sender_does_not_know_of_is_in_no_queue():
    done = of(logged([TRUE | {"q_U": 0}]), tuple((39 * MS // 2, 0) for _ in range(2)))
    assert "1500 bytes waited" in done.faults[0]
    done.log["size"][1] = 52
    assert not again(done).false_beliefs[0]


def test_beliefs_are_judged_while_the_link_is_the_flows_alone():
    wrong = logged([TRUE, TRUE, TRUE | {"C_U": 1}])
    assert of(wrong).faults
    done = of(wrong, ((0, 0), (50 * MS, 1)))
    assert not done.faults and done.alone_until(0) == 50 * MS
    changing = replace(LINK, rates=(*LINK.rates, (59 * MS, 24_000_000)))
    assert not again(replace(done, link=changing)).false_beliefs[0]
    assert measures.measures(done, 0).flows[0].beliefs.judged_until_seconds == 0.05


def test_warm_up_is_windows_until_the_bounds_are_what_they_stay():
    """C_L climbs for 3 windows of 9 steps to what it then is, but for what times out and comes back."""
    rows = [TRUE | {"C_L": min(27000, 1000 * (t + 1))} for t in range(70)]
    rows[40]["C_L"] = 15000
    steps = logged(rows)
    assert steps.converged == (3, 28 * 20 * MS)
    assert measures.warm_up(of(steps, duration=1400 * MS)) == 0.56
    climbs = logged([TRUE | {"C_L": 1000 * (t + 1)} for t in range(30)])
    assert climbs.converged is None
    assert measures.warm_up(of(climbs, duration=600 * MS)) == pytest.approx(0.2)
    loosens = logged([TRUE | {"C_U": 30000 if t < 20 else 90000} for t in range(70)])
    assert loosens.converged == (1, 10 * 20 * MS)
    tightens = logged([TRUE | {"C_U": 90000 if t < 20 else 30000} for t in range(70)])
    assert tightens.converged == (3, 28 * 20 * MS)


def test_a_log_may_end_in_the_middle_of_a_line(tmp_path):
    (tmp_path / "log.csv").write_text("time_ns,step_ns,C_L\n1500,10,3\n1600,10,4\n17")
    steps = beliefs.read_steps(flows.Log(tmp_path / "log.csv", None, 9), 1000)
    assert steps.columns["time"].tolist() == [500, 600] and steps.columns["C_L"].tolist() == [3, 4]
    (tmp_path / "log.csv").write_text("time_ns,step_ns,C_L\n")
    assert len(beliefs.read_steps(flows.Log(tmp_path / "log.csv", None, 9), 1000)) == 0


def test_a_sender_may_end_before_its_log_begins(tmp_path):
    log = flows.Log(tmp_path / "log.csv", None, 9)
    assert beliefs.read_steps(log, 1000) is None
    for begun in ("", "time_ns,st"):
        log.file.write_text(begun)
        assert beliefs.read_steps(log, 1000) is None


DEEP = link.of_texts("12mbit", "40ms", "2bdp")


def emulate(flow, seconds, asked=DEEP):
    return on_time(
        lambda: run.run_flows(asked, kinds.timetable([flow], seconds), seconds),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    )


@pytest.mark.parametrize("kind", ["udp", pytest.param("bpf", marks=needs_bpf)])
def test_a_sender_believes_what_is_true(kind, iperf3):
    """D = R_m is left for delays of the sender's own: only a machine that is late by much of it may break that."""
    done = emulate(f"{kind}:cc_qdel", 4)
    found = measures.measures(done, 0).flows[0].beliefs
    assert found.steps > 30 and found.judged_until_seconds == 4
    late = done.lateness.max() > 10 * MS or any("late" in fault for fault in done.faults)
    assert late or not found.false, done.faults


@pytest.mark.slow
@needs_bpf
@pytest.mark.parametrize("seed", range(8))
def test_it_does_where_the_receiver_has_no_room(seed, iperf3, monkeypatch):
    """Where much is lost, a receiver keeps what comes after it: the sender has to wait, and the link with it."""
    monkeypatch.setattr(run, "_window", lambda link: 0)
    asked = link.of_texts("36mbit", "40ms", "1/4bdp", "40ms", "aggregation", seed=seed)
    done = emulate("bpf:cc_qdel", 5, asked)
    assert done.lateness.max() > 10 * MS or not done.false_beliefs[0], done.faults


def test_a_sender_that_errs_is_found_out(emulator, monkeypatch):
    """One whose bounds from below are twice what they ought to be."""
    write = kinds.exporting.write

    def write_wrongly(export, target, folder):
        write(export, target, folder)
        file = folder / f"{export.name}.h"
        text = file.read_text()
        assert "return amount / over;" in text
        file.write_text(text.replace("return amount / over;", "return 2 * (amount / over);"))

    monkeypatch.setattr(kinds.exporting, "write", write_wrongly)
    done = emulate("udp:cc_qdel", 3)
    assert "C_L" in {belief for _, belief, _ in done.false_beliefs[0]}
    assert any("udp:cc_qdel believed falsely" in fault for fault in done.faults)
