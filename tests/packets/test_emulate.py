"""The link emulator: its log replays exactly and obeys the link asked for; nothing of a run is left on the machine."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import pytest

from ccmatic import records
from ccmatic.base.errors import InputError
from ccmatic.deployment.emulation import flows, kinds, link, machine, measures, pipeline, replay, run
from support import cli
from support.emulations import in_time
from support.json_schemas import validate
from support.machine import on_time
from support.sampling import each_nth

MBIT24, RM = 3_000_000, 40_000_000
CLI = [sys.executable, "-c", "from ccmatic.cli import main; main()", "emulate"]
SCHEDULE = """\
# ccmatic schedule 1
# rate 3000000          bytes per second (C)
# step 40000000         nanoseconds of the trace's R_m
# packet 1500           bytes in a packet
# buffer 60000          bytes (the word `infinite` if so)
# queue 45000           bytes sent by time 0 and not yet served, the initial queue (A[0]-L[0]-S[0])
time_ns,admitted,served
0,12000,0
40000000,120000,12000
80000000,120000,120000
200000000,480000,400001
500000000,1380000,1300000
"""


@pytest.fixture
def schedule(tmp_path):
    file = tmp_path / "schedule.csv"
    file.write_text(SCHEDULE)
    return file


def mine(pid):
    """The namespaces and folders that the run of this process has on the machine."""
    places = machine.NAMESPACES, Path(gettempdir())
    return [path.name for place in places for path in place.glob(f"ccm-{pid}-*")]


def emulate(asked, names, seconds):
    emulation = on_time(
        lambda: run.run_flows(asked, [kinds.request(name) for name in names], seconds),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    )
    assert not mine(os.getpid())
    return emulation


def check_log(emulation):
    """What holds of every log. Returns the packets that were not lost."""
    log, asked = emulation.log, emulation.link
    assert len(log) > 1000 and emulation.dropped == 0
    of_the_machine = "late", "least D", "held up", "nothing to send"
    assert not [fault for fault in emulation.faults if not any(words in fault for words in of_the_machine)]
    assert emulation.jitter <= asked.rtt + asked.jitter + emulation.lateness.max()
    assert np.median(emulation.lateness) < 1e6
    assert log["arrival"][0] == 0 and (np.diff(log["arrival"]) >= 0).all()
    assert set(log["flow"]) == set(range(len(emulation.flows)))
    assert 40 <= log["size"].min() and log["size"].max() == 1500
    kept, lost = log[log["lost"] == 0], log[log["lost"] != 0]
    for name in ("admitted", "planned", "released"):
        assert (lost[name] == -1).all()
    for name in ("admitted", "planned"):
        assert (np.diff(kept[name]) >= 0).all()
    out = kept[kept["released"] >= 0]
    assert len(out) > 1000 and (kept["released"][len(out) :] == -1).all()
    assert (np.diff(out["released"]) >= 0).all() and (out["released"] >= out["planned"]).all()
    assert (kept["admitted"] >= kept["arrival"]).all()
    assert (kept["planned"] >= kept["admitted"] + asked.propagation()).all()
    return kept


def check_queue(emulation):
    """A fluid queue of the bytes that arrive and a link of one rate, exact: a packet is lost iff it does not fit."""
    rate, queue, before, losses = Fraction(emulation.link.rates[0][1], 8 * 10**9), Fraction(0), 0, 0
    for now, size, lost, admitted in emulation.log[["arrival", "size", "lost", "admitted"]].tolist():
        queue = max(Fraction(0), queue - rate * (now - before))
        before = now
        assert (queue + size > emulation.link.buffer) == bool(lost)
        losses += lost
        if not lost:
            queue += size
            assert now + queue / rate <= admitted < now + queue / rate + 1
    assert losses


def test_a_flow_fills_the_link(iperf3):
    emulation = emulate(link.of_texts("24mbit", "40ms", "1bdp"), ["cubic"], 2.4)
    kept = check_log(emulation)
    check_queue(emulation)
    assert (kept["planned"] == kept["admitted"] + RM).all()
    found = measures.measures(emulation, 1)
    assert found.utilisation > 0.85
    assert found.utilisation <= 1 + 1500 / (2 * MBIT24)
    assert found.queueing_delay_ms.max <= 40
    assert found.rtt_ms.mean > 40


def test_jitter_holds_packets_in_order_and_for_at_most_D(iperf3):
    emulation = emulate(
        link.of_texts("24mbit", "40ms", "1/2bdp", "40ms", "aggregation", seed=7), ["cubic", "reno"], 2.4
    )
    kept = check_log(emulation)
    check_queue(emulation)
    held = kept["planned"] - kept["admitted"] - RM
    assert held.min() >= 0 and RM / 2 < held.max() <= RM
    instants, counts = np.unique(kept["planned"], return_counts=True)
    assert 50 < len(instants) < 300 and counts.max() > 20
    assert np.diff(instants).max() < 20 * RM


def test_the_rate_changes_and_delays_are_random(iperf3):
    asked = link.of_texts("12mbit", "20ms", "4bdp", "10ms", "uniform", ["500ms=24mbit", "1.2s=7654321bit"])
    emulation = emulate(asked, ["bbr" if "bbr" in flows.AVAILABLE.read_text() else "reno"], 2.4)
    kept = check_log(emulation)
    held = kept["planned"] - kept["admitted"] - RM // 2
    assert held.min() >= 0 and held.max() <= 10_000_000 and len(np.unique(held)) > 200
    for start, end, bits in ((0, 0.5, 12e6), (0.5, 1.2, 24e6), (1.2, 2.4, 7654321)):
        served = kept["size"][(kept["admitted"] > start * 1e9) & (kept["admitted"] <= end * 1e9)].sum()
        assert served <= bits / 8 * (end - start) + 1500
    assert served > 0.8 * bits / 8 * 1.2


def test_a_schedule_says_what_is_delivered_when(iperf3, schedule):
    asked = link.of_schedule(schedule)
    emulation = emulate(asked, ["reno"], 1.5)
    kept = check_log(emulation)
    curve = np.array([line.split(",") for line in SCHEDULE.splitlines()[7:]], float)
    curve = np.vstack([curve, curve[-1] + [10e9, 10 * MBIT24, 10 * MBIT24]])
    ends = np.cumsum(kept["size"])
    for column, name in ((1, "admitted"), (2, "planned")):
        reached = np.interp(kept[name], curve[:, 0], curve[:, column])
        before = np.interp(kept[name] - 1.0, curve[:, 0], curve[:, column])
        assert (reached >= ends - 1e-3).all()
        assert ((before < ends + 1e-3) | (kept[name] == kept["arrival"])).all()
    log = emulation.log
    accepted = np.cumsum(np.where(log["lost"], 0, log["size"])) - np.where(log["lost"], 0, log["size"])
    fits = accepted + log["size"] - np.interp(log["arrival"], curve[:, 0], curve[:, 1]) <= 60000
    assert (fits == (log["lost"] == 0)).mean() > 0.999
    assert (~fits).any()


def test_a_buffer_of_one_packet_passes_one_at_a_time(iperf3):
    emulation = emulate(link.of_texts("24mbit", "10ms", "1500"), ["reno"], 0.6)
    large = emulation.log[(emulation.log["size"] == 1500) & (emulation.log["lost"] == 0)]
    assert len(large) > 10 and "the log does not replay" not in emulation.faults
    assert (large["admitted"] - large["arrival"] == 500_000).all()


def test_the_command_keeps_what_it_says(iperf3, tmp_path):
    options = ["--rate", "24mbit", "--rtt", "10ms", "--buffer", "2bdp", "--seconds", "1", "--json", "--out", "kept"]
    plots = ["--plot", "run.svg"]
    done = subprocess.run([*CLI, *options, *plots], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    found = json.loads(done.stdout)
    assert found["valid"] == (done.returncode == 0) == (not found["faults"])
    assert json.loads((tmp_path / "kept/measures.json").read_text()) == found
    log = np.load(tmp_path / "kept/packets.npy")
    assert log.dtype == run.RECORD and (log["arrival"] >= 1e9 / 3).sum() == found["packets"]
    assert found["flows"][0]["flow"] == "cubic" and found["flows"][0]["lost"] == found["lost"]
    assert "Throughput" in (tmp_path / "run.svg").read_text()
    validate(found, "MeasuresFile")
    again = measures.as_text(records.read_record(done.stdout, records.MeasuresFile))
    assert "24 Mbit/s, R_m 10 ms, buffer 60000 bytes (2 BDP), no jitter" in again


@pytest.mark.parametrize("how, code", each_nth(2, [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)]))
def test_nothing_is_left_of_a_run_that_is_ended(iperf3, how, code, tmp_path):
    options = ["--rate", "24mbit", "--rtt", "10ms", "--buffer", "2bdp", "--seconds", "60"]
    with subprocess.Popen([*CLI, *options], cwd=tmp_path, stderr=subprocess.PIPE) as process:
        for _ in range(3000):
            inside = [pid for name in mine(process.pid) for pid in pids(name)]
            if len(inside) >= 2:
                break
            time.sleep(0.02)
        assert len(inside) >= 2
        process.send_signal(how)
        assert process.wait(timeout=20) == code
    if how == signal.SIGKILL:
        assert mine(process.pid)
        machine.remove_what_is_left()
    assert not mine(process.pid)
    time.sleep(0.1)
    assert not any(map(machine.alive, inside))


def pids(name):
    return subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split()


class Broken:
    """A flow whose receiver says that it is ready and whose sender ends."""

    def __init__(self, receiver, sender):
        self.receiver, self.sender, self.over = receiver, sender, False

    @contextmanager
    def prepare(self, context):
        try:
            yield flows.Commands(["sh", "-c", self.receiver], ["sh", "-c", self.sender])
        finally:
            self.over = True


@pytest.mark.parametrize(
    "receiver, sender, said",
    [
        ("echo ready; sleep 9", "echo boom >&2; exit 7", r"sender of flow 0 \(broken\) ended with code 7: boom"),
        ("echo no port >&2", "true", r"receiver of flow 0 \(broken\) ended with code 0: no port"),
        ("echo ready; sleep 9", "true", "ended with code 0: it printed no error"),
    ],
)
def test_a_flow_that_ends_early_is_an_error(emulator, receiver, sender, said):
    broken = Broken(receiver, sender)
    with pytest.raises(InputError, match=said):
        run.run_flows(link.of_texts("24mbit", "40ms", "1bdp"), [flows.FlowRequest("broken", broken)], 3)
    assert broken.over and not mine(os.getpid())


def test_what_a_machine_lacks_is_said(monkeypatch):
    monkeypatch.setattr(machine.os, "geteuid", lambda: 0)
    monkeypatch.setattr(machine.shutil, "which", lambda tool: tool)
    monkeypatch.setattr(machine.os.path, "exists", lambda path: path != "/dev/net/tun")
    with pytest.raises(InputError, match="modprobe tun"):
        machine.require()
    for tool in ("ip", "cc"):
        monkeypatch.setattr(machine.shutil, "which", lambda asked, lacks=tool: None if asked == lacks else asked)
        with pytest.raises(InputError, match=f"there is no {tool}; on Debian, apt-get install"):
            machine.require()
    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000)
    with pytest.raises(InputError, match="needs root"):
        machine.require()


GOOD = ["--rate", "24mbit", "--rtt", "40ms", "--buffer", "1bdp"]


@pytest.mark.parametrize(
    "options, said",
    [
        (GOOD[:4], "--buffer missing"),
        (["--rate", "24", *GOOD[2:]], "cannot read '24'"),
        ([*GOOD[:2], "--rtt", "0ms", *GOOD[4:]], "rtt is '0ms'"),
        ([*GOOD[:4], "--buffer", "1499"], "at least a packet"),
        (["--rate", "1/3bit", *GOOD[2:4], "--buffer", "9kb"], "whole number"),
        ([*GOOD, "--change", "5s"], "such as 5s=48mbit"),
        ([*GOOD, "--change", "2s=3mbit", "--change", "2s=4mbit"], "later than"),
        ([*GOOD, "--change", "10s=3mbit"], "after the run"),
        ([*GOOD, "--pattern", "uniform"], "needs --jitter"),
        ([*GOOD, "--jitter", "5ms", "--pattern", "unifrm"], "did you mean 'uniform'"),
        ([*GOOD, "--jitter", "5ms", "--pattern", "none"], "expected uniform or aggregation"),
        ([*GOOD, "--jitter", "5ns"], "at least 1us"),
        ([*GOOD, "--flow", "cubc"], "no congestion control 'cubc'"),
        ([*GOOD, "--flow", "what:ever"], "unknown kind of flow 'what'"),
        ([*GOOD, "--warmup", "10"], "a warm-up of 10 s"),
        ([*GOOD, "--plot", "run.gif"], "cannot draw"),
        (["--schedule", "none.csv", "--change", "1s=1mbit"], "--schedule says what --change would"),
        (["--schedule", "none.csv"], "cannot read"),
    ],
)
def test_bad_input_is_one_message(options, said):
    code, out, err = cli.run("emulate", *options)
    assert (code, out, err.count("\n")) == (2, "", 1) and said in err


@pytest.mark.parametrize(
    "old, new, line",
    [
        ("# ccmatic schedule 1", "# ccmatic schedule 2", 1),
        ("time_ns,admitted,served", "time_ns,served,admitted", 7),
        ("40000000,120000,12000", "40000000,120000", 9),
        ("80000000,120000,120000", "80000000,120000,120001", 10),
        ("80000000,120000,120000", "40000000,120000,120000", 10),
        ("200000000,480000", "200000000,119999", 11),
        ("0,12000,0\n", "", 8),
        ("# rate 3000000", "# rate 0", None),
        ("# rate 3000000", "# rate 1/3", None),
        ("# packet 1500", "# packet many", None),
        ("# buffer 60000", "# buffer 1400", None),
        ("# step 40000000", "# stop", None),
    ],
)
def test_a_bad_schedule_is_refused(old, new, line, schedule):
    assert link.of_schedule(schedule)
    assert old in SCHEDULE
    schedule.write_text(SCHEDULE.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        link.of_schedule(schedule)
    assert caught.value.line == line


def test_no_jitter_is_no_pattern():
    for jitter, pattern in ((None, None), (None, "none"), ("0ms", "uniform"), ("0ms", None)):
        assert link.of_texts("1mbit", "40ms", "1bdp", jitter, pattern).pattern == "none"
    assert link.of_texts("1mbit", "40ms", "1bdp", "1ms").pattern == "aggregation"


def test_an_infinite_buffer_loses_nothing(schedule):
    schedule.write_text(SCHEDULE.replace("buffer 60000", "buffer infinite"))
    for asked in (link.of_texts("1mbit", "40ms", "infinite"), link.of_schedule(schedule)):
        decided = replay.decisions(asked, range(10_000), [1500] * 10_000)
        assert not any(lost for lost, _, _ in decided)


def test_service_is_exact_where_the_rate_changes_within_a_packet():
    asked = link.of_texts("8bit", "1s", "2000", changes=["1s=80bit", "3s=7bit"])
    (lost, first, _), (_, second, _), (third, *_) = replay.decisions(asked, [0, 10**9, 10**9], [10, 1000, 1001])
    assert (lost, first, third) == (False, 1_900_000_000, True)
    # Bits left: 8000 less 88 by 3 s, at 7 a second.
    assert second == 3 * 10**9 + -(-(8000 - 88) * 10**9 // 7)


def test_without_root_nothing_is_written(monkeypatch, tmp_path):
    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000)
    asked = {"rate": "24mbit", "rtt": "40ms", "buffer": "1bdp", "schedule": None}
    with pytest.raises(InputError, match="needs root"):
        pipeline.emulate(seconds=1, out=tmp_path / "kept", **asked)
    assert not list(tmp_path.iterdir())


def test_losses_in_a_window():
    instants = np.array([0, 5, 9, 10, 30, 31])
    assert measures.most_within(instants, 10) == 3
    assert measures.most_within(instants, 1) == 1
    assert measures.most_within(instants[:0], 10) == 0


def test_measures_are_as_their_schema_says(schedule):
    """For two flows, for one that sends nothing during the measurement, and beside a schedule."""
    asked = link.of_texts("12mbit", "10ms", "3000")
    found = measures.measures(in_time(asked, ("cubic", "bbr"), [(0, 1), (0, 0), (0, 0)]), 0)
    validate(records.data(found), "MeasuresFile")
    assert found.valid and found.lost == found.lost_max_in_rm == 1
    assert [(flow.flow, flow.packets, flow.lost) for flow in found.flows] == [("cubic", 2, 1), ("bbr", 1, 0)]
    assert found.queueing_delay_ms == records.Spread(1.5, pytest.approx(1.95), 2)
    assert records.read_record(records.line(found), records.MeasuresFile) == found
    assert "\nall " in measures.as_text(found) and "\nvalid; least D 0.00 ms" in measures.as_text(found)
    silent = measures.measures(in_time(asked, ("cubic",), [(0, 0)]), 0.5)
    validate(records.data(silent), "MeasuresFile")
    assert silent.rtt_ms == records.Spread(None, None, None)
    beside = measures.measures(in_time(link.of_schedule(schedule), ("reno",), [(0, 0)]), 0)
    validate(records.data(beside), "MeasuresFile")
    assert (beside.trace.delivered[-1], beside.emulated.delivered[-1]) == (1300000, 1500)


@pytest.mark.parametrize("start, served", [(0, 1_380_000 - 12_000), (0.2, 1_380_000 - 480_000)])
def test_tokens_that_a_schedule_kept_from_before_are_not_of_the_run(start, served, schedule):
    """A sender that always has a full buffer takes at once the 12,000 bytes that may be admitted at time 0."""
    asked = link.of_schedule(schedule)
    made = in_time(asked, ("reno", "bbr"), [(i * 250_000, i % 2) for i in range(2000)], 500_000_000)
    found = measures.measures(made, start)
    packets, capacity = 1500, MBIT24 * (0.5 - start)
    assert found.utilisation == pytest.approx(served / capacity, abs=packets / capacity)
    assert found.mbit_per_second == pytest.approx(24 * found.utilisation)
    assert sum(flow.utilisation for flow in found.flows) == pytest.approx(found.utilisation)
