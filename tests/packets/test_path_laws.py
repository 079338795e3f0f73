"""Every run over the path obeys its laws, and forged recordings are refused."""

import random
from dataclasses import replace
from fractions import Fraction

import msgspec
import numpy as np
import pytest

from ccmatic import records
from ccmatic.answers import verification
from ccmatic.base import InputError
from ccmatic.judging import running, subjects, traces
from ccmatic.judging.scenario import Scenario
from support.machine import needs_compiler
from support.scenarios import MS, SECOND, random_scenario

pytestmark = needs_compiler

HELD = Scenario(
    duration=2 * SECOND,
    rate=24_000_000,
    rtt=40 * MS,
    buffer=60_000,
    jitter=10 * MS,
    threshold=30_000,
    events=(records.HoldEvent(at=SECOND, length=10 * MS), records.LossEvent(at=SECOND + 200 * MS, packets=2)),
)


@pytest.fixture(scope="module")
def session():
    with running.Session(subjects.subject("dctcp")) as session:
        yield session


@pytest.mark.parametrize(
    "seeds",
    [(*range(40), 125, 951), *(pytest.param(range(n, n + 200), marks=pytest.mark.slow) for n in range(40, 1040, 200))],
)
def test_random_runs_are_lawful(session, seeds):
    packets = 0
    for seed in seeds:
        recording = session.run(random_scenario(random.Random(seed), "reno"))
        assert (recording.failure, list(recording.faults())) == (None, []), seed
        packets += len(recording.packets)
    assert packets > 1000 * len(seeds)


def forged(recording, place, **fields):
    packets = recording.packets.copy()
    for name, value in fields.items():
        packets[name][place] = value
    return replace(recording, packets=packets)


def test_one_ns_beyond_the_jitter_is_refused(session):
    recording = session.run(HELD)
    assert list(recording.faults()) == []
    through = (recording.packets["lost"] == 0) & (recording.packets["released"] >= 0)
    held = recording.packets["released"] - recording.packets["admitted"] - HELD.rtt
    place = int((held * through).argmax())
    beyond = recording.packets["admitted"][place] + HELD.rtt + HELD.jitter + 1
    faults = list(forged(recording, place, released=beyond).faults())
    assert "stays in the jitter box for 10000001 ns; expected at most D, 10000000 ns" in faults[0]


def test_a_packet_out_of_order_is_refused(session):
    recording = session.run(HELD)
    first, second = (recording.packets["released"] > SECOND).nonzero()[0][:2].tolist()
    swapped = recording.packets["released"][[second, first]]
    faults = list(forged(recording, [first, second], released=swapped).faults())
    assert any("overtakes" in fault for fault in faults)


SHRINKS = records.RttEvent(at=SECOND, rtt=20 * MS)


@pytest.mark.parametrize("events", [HELD.events, (HELD.events[0], SHRINKS)], ids=["held", "shrinks"])
def test_any_changed_number_is_refused(session, events):
    recording = session.run(msgspec.structs.replace(HELD, events=events))
    rng, refused = random.Random(1), 0
    for _ in range(100):
        place = rng.randrange(len(recording.packets))
        packet = recording.packets[place]
        fields = ["lost"] if packet["lost"] else ["lost", "admitted", "released", "marked", "size"]
        if packet["released"] == -1 and "released" in fields:
            fields.remove("released")
        field = rng.choice(fields)
        was = int(packet[field])
        value = (was + 1) % 5 if field == "lost" else int(was == 0) if field == "marked" else was + rng.choice([-1, 1])
        assert list(forged(recording, place, **{field: value}).faults()), (place, field, value)
        refused += 1
    assert refused == 100


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 150), marks=pytest.mark.slow)])
def test_windows_of_runs_are_executions_of_the_models(session, seeds):
    accepted, models = 0, set()
    for seed in seeds:
        plan = random_scenario(random.Random(seed), "reno")
        recording = session.run(plan)
        for at in (None, plan.duration // 3):
            try:
                trace = traces.trace(recording, at)
            except InputError as error:
                assert "no trace" in str(error)
                continue
            assert verification.replay(trace).faults == (), (seed, at)
            models.add(trace.query["model"].partition(":")[0])
            accepted += 1
    assert accepted > len(seeds) and models == {"cbr_delay", "lossy"}


def test_packets_stay_in_order_if_the_round_trip_shrinks(session):
    recording = session.run(msgspec.structs.replace(HELD, events=(HELD.events[0], SHRINKS)))
    assert list(recording.faults()) == []
    through = recording.packets[(recording.packets["lost"] == 0) & (recording.packets["released"] >= 0)]
    assert (np.diff(through["released"]) >= 0).all()
    assert (through["released"] - through["arrival"]).min() < 21 * MS
    assert verification.replay(traces.trace(recording, SECOND)).faults == ()


def test_a_trace_of_a_longer_jitter_is_refused(session):
    recording = session.run(HELD)
    packets = recording.packets.copy()
    packets["released"][packets["released"] >= 0] += 2 * HELD.rtt
    packets["released"][packets["released"] >= HELD.duration] = -1
    faults = verification.replay(traces.trace(replace(recording, packets=packets))).faults
    assert any("served_within_jitter" in fault for fault in faults)


def test_a_reply_that_arrives_late_is_refused(session):
    recording = session.run(HELD)
    replies = recording.replies.copy()
    replies["arrived"][100] += 1
    assert "reply 100" in next(replace(recording, replies=replies).faults())


def test_more_losses_by_chance_than_the_share_are_refused(session):
    lossy = records.ChanceRecord(share=Fraction(1, 100), burst=1)
    recording = session.run(msgspec.structs.replace(HELD, loss=lossy, events=()))
    assert list(recording.faults()) == []
    lost = (recording.packets["lost"] == 2).nonzero()[0]
    assert len(lost) > 3
    again = forged(recording, int(lost[2]) + 1, lost=2, admitted=-1, released=-1, marked=0)
    assert any("lost by chance" in fault for fault in again.faults())
