"""The adaptor of quic-go: it builds, plays scenarios deterministically, and refuses what it cannot build or play."""

import json
import subprocess

import numpy as np
import pytest

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.judging import scenario
from ccmatic.judging.adaptors.quic_go import Adaptor
from ccmatic.judging.recording import PACKET, SAMPLE
from support.machine import needs_compiler, needs_go

S, MS = 10**9, 10**6


def path(**settings):
    usual = {"duration": 8 * S, "rate": 24_000_000, "rtt": 40 * MS, "buffer": 120_000, "jitter": 40 * MS}
    return scenario.lawful(records.ScenarioFile(**usual | settings))


def play(folder, controller, **settings):
    """Return the answer of the adaptor, its packets and its samples."""
    folder.mkdir(exist_ok=True)
    (folder / "scenario.txt").write_text(scenario.configuration(path(**settings), controller))
    command = Adaptor().build().command
    done = subprocess.run(command, input=f"{folder}\n", capture_output=True, text=True, timeout=60, check=True)
    files = (np.fromfile(folder / "packets.bin", PACKET), np.fromfile(folder / "samples.bin", SAMPLE))
    return json.loads(done.stdout), *files


def delivered(packets, begin, end, flow=0):
    """Return the bytes of a flow that reach the receiver in an interval of seconds."""
    inside = (packets["released"] >= begin * S) & (packets["released"] < end * S) & (packets["flow"] == flow)
    return packets["size"][inside].sum()


@pytest.mark.slow
@needs_go
@needs_compiler
class TestRuns:
    def test_both_controllers_fill_a_link(self, tmp_path):
        for controller in Adaptor.controllers:
            answer, packets, _ = play(tmp_path, controller)
            assert answer["failure"] is None
            assert 0.97 < delivered(packets, 2, 8) / (6 * 3_000_000) < 1.001

    def test_controllers_differ(self, tmp_path):
        windows = [set(play(tmp_path, controller)[2]["window"]) for controller in Adaptor.controllers]
        assert windows[0] != windows[1]

    def test_same_seed_same_run(self, tmp_path):
        events = (
            records.LossEvent(at=2 * S, packets=3),
            records.HoldEvent(at=3 * S, length=30 * MS),
            records.IdleEvent(at=4 * S, length=S, flow=1),
            records.OutageEvent(at=6 * S, length=500 * MS),
        )
        flows = (records.FlowRecord(), records.FlowRecord(start=S, stop=7 * S))
        for seed in (1, 2):
            runs = [play(tmp_path / str(i), "cubic", events=events, flows=flows, seed=seed) for i in range(2)]
            assert runs[0][1].tobytes() == runs[1][1].tobytes()
            assert runs[0][2].tobytes() == runs[1][2].tobytes()

    def test_application_pauses_and_is_limited(self, tmp_path):
        events = (
            records.IdleEvent(at=2 * S, length=2 * S),
            records.LimitEvent(at=5 * S, length=2 * S, bits=2_000_000),
        )
        _, packets, samples = play(tmp_path, "reno", events=events)
        assert delivered(packets, 2.2, 4) == 0
        assert 240_000 < delivered(packets, 5.5, 6.5) < 300_000
        assert samples["flags"][(samples["time"] > 5.5 * S) & (samples["time"] < 6.5 * S)].all()

    def test_stopped_flow_leaves_the_link(self, tmp_path):
        flows = (records.FlowRecord(), records.FlowRecord(start=S, stop=4 * S))
        _, packets, _ = play(tmp_path, "reno", flows=flows)
        assert delivered(packets, 2, 4, flow=1) > 0 == delivered(packets, 4.3, 8, flow=1)

    def test_other_packets_than_quic_allows(self, tmp_path):
        assert "at least 1228 bytes" in play(tmp_path, "reno", packet=1000)[0]["failure"]


@pytest.mark.slow
@needs_go
@needs_compiler
def test_another_version(tmp_path):
    program = Adaptor().build("0.60.0")
    assert program.version == "quic-go 0.60.0"
    assert program.command != Adaptor().build().command


@pytest.mark.slow
@needs_go
def test_versions():
    versions = Adaptor().versions()
    assert versions[0] == "0.44.0"
    assert versions.index("0.60.0") < versions.index(Adaptor.version)


@pytest.mark.slow
@needs_go
@needs_compiler
def test_unreleased_version():
    with pytest.raises(InputError, match=r"0\.99\.0"):
        Adaptor().build("0.99.0")


def test_no_version():
    with pytest.raises(InputError, match="'latest' is no version of quic-go"):
        Adaptor().build("latest")


def test_no_checkout(tmp_path):
    with pytest.raises(InputError, match=r"no go\.mod of github"):
        Adaptor().build(source=tmp_path)


def test_no_go(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="there is no go"):
        Adaptor().build()
