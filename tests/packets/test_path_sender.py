"""The sender of RFC 9002 around controllers: acknowledgements, losses, probes, persistent congestion and pacing."""

import json
from itertools import pairwise

import msgspec
import numpy as np
import pytest

from ccmatic import records
from ccmatic.judging import running, subjects
from ccmatic.judging.scenario import Scenario
from support import ROOT
from support.machine import needs_compiler
from support.scenarios import MS, SECOND

pytestmark = needs_compiler

PLAN = Scenario(duration=3 * SECOND, rate=24_000_000, rtt=40 * MS, buffer=120_000, jitter=10 * MS)

#: A window of 20 packets, whose controller logs all events. MORE stands for further methods.
LOGGING = """
import json
class Controller:
    def __init__(self, name, seed, packet):
        self.packet, self.file = packet, open({log!r}, "w")
    def log(self, kind, event):
        line = {{name: getattr(event, name) for name, _ in event._fields_}}
        print(json.dumps({{"kind": kind, **line}}), file=self.file, flush=True)
    def sent(self, event): self.log("sent", event)
    def acked(self, event): self.log("acked", event)
    def lost(self, event): self.log("lost", event)
    def limited(self, event): self.log("limited", event)
    def window(self): return 20 * self.packet
{more}
"""


@pytest.fixture
def logged(tmp_path):
    def run(more="", **changes):
        log = tmp_path / "events"
        (tmp_path / "logging.py").write_text(LOGGING.format(log=str(log), more=more))
        recording = running.run(
            subjects.subject(str(tmp_path / "logging.py")), msgspec.structs.replace(PLAN, **changes)
        )
        assert recording.failure is None and list(recording.faults()) == []
        return recording, [json.loads(line) for line in log.read_text().splitlines()]

    return run


def of(events, kind):
    return [event for event in events if event["kind"] == kind]


def test_a_window_is_kept_full_and_never_exceeded(logged):
    recording, events = logged()
    assert max(event["in_flight"] for event in events) == 20 * 1500
    assert not of(events, "lost") and not of(events, "limited")
    arrived = recording.packets["size"][recording.packets["released"] >= 0].sum()
    assert sum(event["bytes"] for event in of(events, "acked")) == pytest.approx(arrived, abs=3000)
    service = 1500 * 8 * SECOND // PLAN.rate
    assert of(events, "acked")[-1]["least_rtt"] in range(40 * MS, 40 * MS + 2 * service + 1)


@pytest.mark.parametrize("packets", [1, 2, 5])
def test_the_receiver_acknowledges_every_so_many_packets(logged, packets):
    _, events = logged(acknowledgements=records.AcknowledgementsRecord(packets=packets))
    sizes = [event["bytes"] for event in of(events, "acked")]
    assert np.median(sizes) == packets * 1500


def test_a_lonely_packet_is_acknowledged_after_the_delay(logged):
    limit = records.LimitEvent(at=0, length=3 * SECOND, bits=60_000)
    acks = records.AcknowledgementsRecord(packets=2, delay=25 * MS)
    recording, events = logged(events=(limit,), acknowledgements=acks)
    waits = [reply["sent"] for reply in recording.replies]
    assert len(waits) == len(of(events, "acked")) >= 10
    assert {event["rtt"] for event in of(events, "acked")} == {65 * MS + 1500 * 8 * SECOND // PLAN.rate}
    assert of(events, "limited") and of(events, "acked")[-1]["app_limited"] == 1


def test_losses_are_detected_by_three_later_packets(logged):
    recording, events = logged(events=(records.LossEvent(at=SECOND, packets=2),))
    lost = of(events, "lost")
    assert [event["bytes"] for event in lost] == [1500, 1500]
    gone = recording.packets["arrival"][recording.packets["lost"] == 4].tolist()
    assert [event["sent"] for event in lost] == gone
    third = recording.packets["released"][recording.packets["arrival"] > gone[-1]][:3]
    assert third[0] < lost[0]["now"] <= third[2]
    assert not any(event["persistent"] for event in lost)


def test_a_lost_tail_is_probed(logged):
    """The last packets before an idle phase are lost, so that no later packet reports them."""
    idle = records.IdleEvent(at=SECOND, length=SECOND)
    loss = records.LossEvent(at=SECOND - 20 * MS, packets=100)
    recording, _ = logged(events=(loss, idle))
    gone = recording.packets["arrival"][recording.packets["lost"] == 4]
    probes = gone[(gone > SECOND) & (gone < 2 * SECOND)]
    assert len(probes) >= 2
    before = gone[gone <= SECOND].max()
    [first] = {*probes[:2].tolist()}
    assert 40 * MS + 25 * MS < first - before < 150 * MS
    later = sorted({*probes.tolist()})
    gaps = np.diff([int(before), *later])
    assert len(gaps) >= 3 and all(after == pytest.approx(2 * now) for now, after in pairwise(gaps))


def test_a_long_outage_is_persistent_congestion(logged):
    _, events = logged(events=(records.LossEvent(at=SECOND, packets=26),))
    lost = of(events, "lost")
    assert len(lost) == 26 and any(event["persistent"] for event in lost)
    _, events = logged(events=(records.LossEvent(at=SECOND, packets=19),))
    assert len(of(events, "lost")) == 19 and not any(event["persistent"] for event in of(events, "lost"))


def test_packets_leave_in_a_burst_of_ten_and_then_paced(logged):
    recording, _ = logged()
    arrivals = recording.packets["arrival"]
    assert (arrivals[:10] == 0).all() and arrivals[10] > 0
    _, counts = np.unique(arrivals[arrivals > SECOND], return_counts=True)
    assert counts.max() <= 2


def test_after_an_idle_phase_at_most_ten_packets_leave_at_once(logged):
    recording, _ = logged(events=(records.IdleEvent(at=SECOND, length=SECOND),))
    arrivals = recording.packets["arrival"]
    assert (arrivals == 2 * SECOND).sum() == 10


def test_a_controller_may_pace_by_itself(logged):
    more = (
        "    last = 0\n"
        "    def departure(self, now, bytes): return self.last + 5_000_000\n"
        "    def sent(self, event): self.last = event.now\n"
    )
    recording, _ = logged(more)
    gaps = np.diff(recording.packets["arrival"])
    assert gaps.min() >= 5 * MS and np.median(gaps) == 5 * MS


def test_marks_are_reported_with_their_bytes(logged):
    marks = "    def marked(self, event): self.log('marked', event)\n"
    window = "    def window(self): return 120 * self.packet\n"
    recording, events = logged(marks + window, threshold=15_000, buffer=120_000)
    marked = recording.packets["marked"] == 1
    assert marked.any() and not (recording.packets["marked"] == 2).any()
    arrived = recording.packets["size"][marked & (recording.packets["released"] >= 0)].sum()
    assert sum(event["bytes"] for event in of(events, "marked")) == pytest.approx(arrived, abs=3000)
    unaware, _ = logged(window, threshold=15_000, buffer=120_000)
    assert not (unaware.packets["marked"] == 1).any() and (unaware.packets["marked"] == 2).any()


def test_a_timeout_that_becomes_shorter_fires_at_once(tmp_path):
    """After many losses, the RTT falls, and the time of the next probe may already be over."""
    base = ROOT / "benchmarks/studies/mutants/newreno.c"
    code = base.read_text().replace("c->recovery = now;", "c->recovery = now / 1000000;")
    (tmp_path / "newreno.c").write_text(code)
    plan = msgspec.structs.replace(PLAN, rate=3_000_000, rtt=120 * MS, buffer=67_500, jitter=30 * MS)
    recording = running.run(subjects.subject(str(tmp_path / "newreno.c")), plan)
    assert recording.failure is None and list(recording.faults()) == []
