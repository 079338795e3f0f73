"""The kernel as a subject: the emulated link of a scenario decides as the path in virtual time does."""

import os
import random
import shutil

import msgspec
import numpy as np
import pytest

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.deployment.emulation import replay
from ccmatic.judging import emulated, running, subjects
from ccmatic.judging.scenario import Scenario
from support.machine import needs_compiler
from support.scenarios import MS, SECOND, random_scenario

LACKING = [tool for tool in ("ip", "iperf3") if not shutil.which(tool)] + ["root"] * (os.geteuid() != 0)
needs_emulation = pytest.mark.skipif(bool(LACKING), reason=f"no {', no '.join(LACKING)} on this machine")

PLAN = Scenario(duration=2 * SECOND, rate=24_000_000, rtt=40 * MS, buffer=60_000, jitter=10 * MS)


def shown(plan):
    """The part of a random scenario that an emulated link shows."""
    events = [event for event in plan.events if isinstance(event, emulated._SHOWN)]
    events = [event for event in events if not isinstance(event, records.RttEvent) or event.rtt >= plan.rtt]
    grown = [event for event in events if isinstance(event, records.RttEvent)]
    rates = [event for event in events if isinstance(event, records.RateEvent | records.OutageEvent)]
    buffers = [event for event in events if isinstance(event, records.BufferEvent)]
    kept = [event for event in events if event not in grown[1:] and (event not in buffers or not rates)]
    kept = [event for event in kept if event not in buffers[1:]]
    changes = {"packet": 1500, "loss": None, "events": tuple(kept), "spacing": 1}
    if rates or buffers:
        changes["policer"] = None
    return msgspec.structs.replace(plan, **changes)


@needs_compiler
@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 200), marks=pytest.mark.slow)])
def test_the_emulated_link_decides_as_the_path(seeds):
    compared = 0
    with running.Session(subjects.subject("dctcp")) as session:
        for seed in seeds:
            plan = shown(random_scenario(random.Random(seed), "reno", most_rate=24_000_000))
            packets = session.run(plan).packets
            decided = replay.outcomes(emulated._link(plan), packets["arrival"], packets["size"], packets["flow"])
            lost, admitted, planned, marked = (np.array(column) for column in zip(*decided, strict=True))
            assert np.array_equal(lost, packets["lost"] != 0), seed
            assert np.array_equal(admitted, packets["admitted"]), seed
            assert np.array_equal(marked, packets["marked"] != 0), seed
            through = packets["released"] >= 0
            later = (packets["released"] - planned)[through]
            assert later.min() >= 0 and later.max() < 5000, seed  # packets of a hold leave 1 ns apart
            compared += len(packets)
    assert compared > 500 * len(seeds)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"events": (records.LossEvent(at=SECOND, packets=3),)}, "cannot show 'lose 3 packets at 1 s'"),
        ({"packet": 1200}, "cannot show packets of 1200 bytes; expected packets of 1500 bytes"),
        (
            {"events": (records.RttEvent(at=1, rtt=50 * MS), records.RttEvent(at=SECOND, rtt=60 * MS))},
            "expected one change of R_m",
        ),
        (
            {"events": (records.RttEvent(at=SECOND, rtt=10 * MS),)},
            "cannot show 'rtt 10 ms at 1 s'; expected that R_m grows",
        ),
    ],
)
def test_a_scenario_that_no_emulated_link_shows_is_one_error(changes, message):
    with pytest.raises(InputError, match=message):
        emulated._link(msgspec.structs.replace(PLAN, **changes))


@needs_emulation
@needs_compiler
def test_the_kernel_runs_in_real_time():
    hold = records.HoldEvent(at=SECOND, length=10 * MS)
    beside = records.FlowRecord(start=SECOND, beside="kernel:reno")
    plan = msgspec.structs.replace(PLAN, events=(hold,), flows=(records.FlowRecord(), beside))
    recording = running.run(subjects.subject("kernel:cubic"), plan)
    packets = recording.packets
    assert set(packets["flow"].tolist()) == {0, 1} and recording.version.startswith("Linux")
    through = packets["released"] >= 0
    held = (packets["released"] - packets["admitted"] - plan.rtt)[through]
    assert 9 * MS < held[(packets["admitted"][through] >= SECOND)].max()
    assert packets["size"][through].sum() * 8 > 0.5 * 24e6 * 2


def test_the_kernel_has_one_version():
    with pytest.raises(InputError, match="expected neither --version nor --source"):
        _ = subjects.subject("kernel:cubic", version="6.1").program
