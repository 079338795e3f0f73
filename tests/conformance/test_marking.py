"""Marks above a threshold (docs/reference/encoding.md, section 4): packets obey the laws; senders read the marks."""

import shutil
from fractions import Fraction
from itertools import accumulate
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from ccmatic.models.marking import MODEL, marks

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.contracts import PACKETS, world
from ccmatic.deployment.emulation import kinds, pipeline, replay, run
from ccmatic.deployment.exporting import header
from ccmatic.networks.simulation import Path, Simulation, WindowFlow, simulate
from ccmatic.networks.simulation.windows import SharedLink
from ccmatic.worlds.runtime.library import Library, StatefulSender
from support.machine import lacking, needs_compiler, on_time

NETWORK = "marking, buffer 2 bdp, threshold 1/2 bdp, jitter 1 rtt"

#: It never grows beyond 2 packets after a mark in the last step.
READER = """\
window: bytes = above(0)
def update(window, marked, MSS, step):
    window = 2 * MSS if marked > marked[step] else window + MSS
def send(window):
    return window
"""


RIGHT = "link->marked = backlog > (link->is.threshold + served) * link->is.period;"
#: Faults in packets.h. Early and late: the threshold is off by one packet.
FAULTS = {
    "early": "link->marked = backlog + work > (link->is.threshold + served) * link->is.period;",
    "late": "link->marked = backlog > (link->is.threshold + served) * link->is.period + work;",
    "every packet": "link->marked = 1;",
    "no packet": "link->marked = 0;",
}


def burst_steps(rng, room, threshold, steps=6):
    """Bytes that arrive in bursts at any times, and are marked beyond the threshold, by exact arithmetic; C = 1.

    Delivery follows at once, or a part of a step later.
    """
    queue, jitter = Fraction(0), Fraction(rng.randint(0, 8), 8)
    marked_ranges, arrived, served, lost = [], Fraction(0), Fraction(0), Fraction(0)
    columns = {name: [Fraction(0)] for name in ("A", "L", "K", "S", "marked")}
    before = [(Fraction(0), Fraction(0))]  # (instant, bytes served by the bottleneck)
    for step in range(steps):
        now = Fraction(0)
        for time in sorted(Fraction(rng.randint(0, 8), 8) for _ in range(rng.randint(0, 3))):
            served += min(queue, time - now)
            queue -= min(queue, time - now)
            now = time
            before.append((step + now, served))
            burst = Fraction(rng.randint(0, 16), 8)
            kept = min(burst, room - queue)
            lost += burst - kept
            above = max(Fraction(0), min(kept, queue + kept - threshold))
            marked_ranges.append((arrived + kept - above, arrived + kept))
            arrived, queue = arrived + kept, queue + kept
        served += min(queue, 1 - now)
        queue -= min(queue, 1 - now)
        before.append((Fraction(step + 1), served))
        columns["A"].append(arrived + lost), columns["L"].append(lost), columns["K"].append(served)
        columns["marked"].append(_marked(marked_ranges, arrived))
        late = max((bytes_ for time, bytes_ in before if time <= step + 1 - jitter), default=Fraction(0))
        columns["S"].append(late)
    columns["echoed"] = [_marked(marked_ranges, S) for S in columns["S"]]
    return SimpleNamespace(horizon=steps + 1, C=1, admitted=lambda t: columns["A"][t] - columns["L"][t], **columns)


def _marked(ranges, most):
    """The marked bytes among the first `most` bytes."""
    return sum(max(Fraction(0), min(end, most) - begin) for begin, end in ranges)


def obeyed(x, threshold):
    carried = [marked - echoed for marked, echoed in zip(x.marked, x.echoed, strict=True)]
    return all(formula for _, _, formula in marks(x, [x], [(x.echoed, carried)], x.K, threshold))


def test_bursts_at_any_time_obey_the_laws():
    """A threshold that is another by an eighth of a step breaks them in some runs."""
    told = {-1: 0, 1: 0}
    for seed in range(500):
        rng = Random(seed)
        threshold = rng.choice((Fraction(1, 4), Fraction(1), Fraction(3)))
        x = burst_steps(rng, threshold + rng.choice((Fraction(1, 2), Fraction(2))), threshold)
        assert obeyed(x, threshold), seed
        for way in told:
            told[way] += not obeyed(x, threshold + Fraction(way, 8))
    assert min(told.values()) > 50


@needs_compiler
def test_a_packet_is_marked_if_more_than_the_threshold_waits_with_it():
    """A burst: a packet is in service, and the threshold of 3 packets wait unmarked."""
    run = simulate(Path("marking", 10, jitter=1, buffer=6, threshold=3), lambda seen: 1, 3, initial_queue=9)
    assert run.lost[:9].tolist() == [False] * 7 + [True] * 2
    assert run.marked[:9].tolist() == [False] * 4 + [True] * 3 + [False] * 2


@needs_compiler
def test_a_packet_keeps_its_mark_if_the_rate_changes():
    simulation = Simulation(Path("marking", 12, jitter=1, buffer=40, threshold=4), 0, 30, jitter="none", rates=[24])
    before = simulation.run().marked
    simulation.change_rate(24)
    for _ in range(6):
        simulation.step(1)
    assert simulation.run().marked[: len(before)].tolist() == before.tolist() and before.sum() == 25
    assert simulation.observation.marked == simulation.run().marked.sum() and simulation.path.threshold == 4


def test_a_threshold_is_of_whole_packets():
    path = Path("marking:threshold=1/3", 20, jitter=1, buffer=40)
    assert path.threshold == 6 and path.model.threshold == Fraction(3, 10)
    with pytest.raises(InputError, match="threshold is 3, expected none on a path of cbr_delay"):
        Path("cbr_delay", 20, jitter=1, buffer=40, threshold=3)


@needs_compiler
@pytest.mark.parametrize("controller", ["dctcp", "prague"])
def test_simulated_senders_hold_the_queue_near_the_threshold(controller):
    """Reno fills the buffer, and loses bytes."""

    def played(name):
        path = Path("marking", 1500 * 40, 1, 1500, 1, 1500 * 80, threshold=1500 * 10)
        sender = StatefulSender(Library(header.make(name)), 1500)
        flow = WindowFlow(Simulation(path, 0, jitter="none"), sender)
        for _ in range(200):
            flow.step()
        run = flow.simulation.run()
        return run, max(run.samples["A"][100:] - run.samples["L"][100:] - run.samples["K"][100:])

    run, queue = played(controller)
    assert run.loss(100) == 0 and run.utilisation(100) > 0.9 and queue < 25
    _, other = played("reno")
    assert other > 70


@needs_compiler
def test_each_of_two_simulated_flows_reads_its_own_marks():
    path = Path("marking", 1500 * 20, 1, 1500, 1, 1500 * 40, threshold=1500 * 5)
    library = Library(header.make("prague"))
    shared = SharedLink(Simulation(path, 3), [StatefulSender(library, 1500) for _ in range(2)])
    for _ in range(80):
        shared.step()
    each = [share.observation.marked for share in shared._shares]
    assert sum(each) == shared.simulation.observation.marked and min(each) > 0


def test_a_sender_observes_the_marks_of_the_network():
    """A mark brings the window to 2 packets R_m later, and without one it grows."""

    def answer(what):
        query = cm.Query(cm.Network("marking_windows:threshold=1/2", "1", 6, delay="executions"), "avoids", what=what)
        return cm.verify(query.read_controller(READER), query).verdict

    told = "echoed[3] > echoed[2]"
    assert answer(f"And({told}, window_f[0][4] > 2 * alpha)") == "holds"
    assert answer(f"And(Not({told}), window_f[0][4] <= window_f[0][3])") == "holds"
    assert answer(told) == "violated"


@pytest.mark.parametrize("most, verdict", [("1/2", "holds"), ("51/100", "violated")])
def test_no_byte_is_marked_below_the_threshold(most, verdict):
    """Without jitter, what was served by the step before bounds the queue within a step."""
    short = f"ALLT(1, T, lambda t: A[t] - L[t] - S[t-1] <= {most})"
    network = cm.Network("marking_windows:threshold=1/2", "1", 6, jitter=0, delay="executions")
    what = f"And({short}, echoed[T-1] + carried[T-1] > echoed[0] + carried[0])"
    query = cm.Query(network, "avoids", what=what)
    assert cm.verify(query.read_controller(READER), query).verdict == verdict


@pytest.mark.parametrize(
    "controller, on, message",
    [
        ("dctcp", "ccac, buffer 1 bdp", "dctcp reads `marked`, and ccac_windows marks no packets; expected a network"),
        ("prague", "24 mbit, rtt 40 ms, buffer 1 bdp", "prague reads `marked`, and ideal_windows marks no packets"),
        (
            "dctcp",
            "marking, buffer 1 bdp, threshold 2 bdp",
            "2 bdp is not below the buffer of 1 bdp, .* 'threshold 1/2 bdp'",
        ),
        ("dctcp", "marking, buffer 1 bdp, threshold -1 bdp", "the threshold is '-1 bdp'; expected a size, at least 0"),
        ("dctcp", "marking, buffer 1 bdp", "lacks its threshold; expected such as 'marking, buffer 1 bdp, threshold"),
        (
            "aimd",
            "ccac, buffer 1 bdp, threshold 1/2 bdp",
            "has a threshold, and ccac2021 marks no packets; expected no",
        ),
    ],
)
def test_contradictions_are_refused(controller, on, message):
    with pytest.raises(InputError, match=message):
        cm.ask(controller, on, "loss <= 1%")


def test_marks_are_asked_about_only_on_networks_that_mark():
    with pytest.raises(InputError, match="'marked <= 1%' is about marks, which this network has not; expected such as"):
        cm.ask("aimd", "ccac, buffer 1 bdp", "marked <= 1%")


def test_the_kernels_program_reads_no_marks():
    with pytest.raises(InputError, match="dctcp.py:.*reads `marked`, which the kernel's program does not observe"):
        assert header.make("dctcp").kernel_program


def decided(link, seed):
    """Packets of any sizes and the marks of the emulated link, beside those by exact arithmetic."""
    rng = Random(seed)
    arrivals = list(accumulate(rng.choice((0, 1, 10**6, 10**6 - 1, rng.randint(0, 10**6))) for _ in range(300)))
    sizes = [rng.choice((1500, 1500, rng.randint(40, 1500))) for _ in arrivals]
    queue, before, expected = Fraction(0), 0, []
    for now, size in zip(arrivals, sizes, strict=True):
        queue = max(Fraction(0), queue - Fraction((now - before) * 12, 8000))
        before = now
        lost = queue + size > link.buffer
        expected.append((lost, not lost and queue + size > link.threshold))
        queue += 0 if lost else size
    outcomes = replay.outcomes(link, arrivals, sizes)
    return [(lost, marked) for lost, *_, marked in outcomes], expected


EMULATED = "marking 12 mbit, rtt 40 ms, buffer 15 kb, threshold 4500 b"


@needs_compiler
def test_the_emulated_link_marks_by_exact_arithmetic():
    found = [decided(pipeline._link(on=EMULATED), seed) for seed in range(5)]
    assert all(link == expected for link, expected in found)
    assert 100 < sum(marked for link, _ in found for _, marked in link) < 1400


@needs_compiler
@pytest.mark.parametrize("fault", FAULTS)
def test_exact_arithmetic_catches_a_planted_fault_of_the_emulated_link(fault, tmp_path, monkeypatch):
    (tmp_path / "packets.h").write_text(world(MODEL, PACKETS).read_text().replace(RIGHT, FAULTS[fault]))
    link = pipeline._link(on=EMULATED)
    monkeypatch.setattr(replay, "header", lambda link: tmp_path / "packets.h")
    link_marks, expected = decided(link, 0)
    assert link_marks != expected


@needs_compiler
@pytest.mark.parametrize(
    "on, message",
    [
        ("marking 12 mbit, rtt 40 ms, buffer 15 kb, threshold 15 kb", "15000 bytes is not below the buffer of 15000"),
        ("marking 12 mbit, rtt 40 ms, buffer 15 kb", "lacks its threshold; expected such as"),
        ("cbr_delay 12 mbit, rtt 40 ms, buffer 15 kb, threshold 5 kb", "cbr_delay marks no packets; expected no"),
    ],
)
def test_what_no_emulator_marks_is_refused(on, message):
    with pytest.raises(InputError, match=message):
        pipeline._link(on=on)


@pytest.mark.real_time
@pytest.mark.skipif(bool(lacking) or not shutil.which("iperf3"), reason="no root or no iperf3 on this machine")
@pytest.mark.parametrize("name", ["udp:dctcp", "reno"])
def test_emulated_flows_react_to_marks(name):
    """After slow start, few packets are lost and the queue is short; the kernel's reno understands ECN."""
    link = pipeline._link(on="marking 24 mbit, rtt 40 ms, buffer 2 bdp, threshold 1/2 bdp")
    emulation = on_time(
        lambda: run.run_flows(link, [kinds.request(name)], 4),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    )
    assert "the log does not replay" not in emulation.faults
    assert (emulation.log["marked"] == 1).any()
    log = emulation.log[emulation.log["arrival"] > 2e9]
    assert log["lost"].mean() < 0.01
    assert np.median(log["admitted"] - log["arrival"]) < 40e6  # ns: half of the buffer
