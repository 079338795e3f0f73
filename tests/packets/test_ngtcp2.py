"""The adaptor of ngtcp2: it builds, plays scenarios deterministically, and refuses what it cannot build or play."""

import subprocess
from pathlib import Path

import pytest

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.judging import running, scenario, subjects
from ccmatic.judging.adaptors.ngtcp2 import Adaptor
from support.machine import needs_compiler

S, MS = 10**9, 10**6

_FOUND = subprocess.run(["/bin/sh", "-c", "pkg-config --exists libngtcp2_crypto_gnutls"], capture_output=True)
needs_ngtcp2 = pytest.mark.skipif(_FOUND.returncode != 0, reason="no libngtcp2-crypto-gnutls-dev on this machine")


def play(controller, **settings):
    usual = {"duration": 8 * S, "rate": 24_000_000, "rtt": 40 * MS, "buffer": 120_000, "jitter": 40 * MS}
    path = scenario.lawful(records.ScenarioFile(**usual | settings))
    return running.run(subjects.subject(f"ngtcp2:{controller}"), path)


def delivered(recording, begin, end, flow=0):
    """Return the bytes of a flow that reach the receiver in an interval of seconds."""
    packets = recording.packets
    inside = (packets["released"] >= begin * S) & (packets["released"] < end * S) & (packets["flow"] == flow)
    return packets["size"][inside].sum()


@needs_ngtcp2
@needs_compiler
class TestRuns:
    @pytest.mark.parametrize("controller", Adaptor.controllers)
    def test_controllers_use_a_link(self, controller):
        found = play(controller)
        assert found.failure is None
        assert 0.8 < delivered(found, 2, 8) / (6 * 3_000_000) < 1.001

    def test_controllers_differ(self):
        assert len({play(name).samples.tobytes() for name in Adaptor.controllers}) == len(Adaptor.controllers)

    def test_same_seed_same_run(self):
        events = (
            records.LossEvent(at=2 * S, packets=3),
            records.HoldEvent(at=3 * S, length=30 * MS),
            records.IdleEvent(at=4 * S, length=S, flow=1),
            records.OutageEvent(at=6 * S, length=500 * MS),
        )
        flows = (records.FlowRecord(), records.FlowRecord(start=S, stop=7 * S))
        one, two = (play("bbr", events=events, flows=flows, seed=5) for _ in range(2))
        assert one.packets.tobytes() == two.packets.tobytes()
        assert one.samples.tobytes() == two.samples.tobytes()

    def test_application_pauses_and_is_limited(self):
        events = (
            records.IdleEvent(at=2 * S, length=2 * S),
            records.LimitEvent(at=5 * S, length=2 * S, bits=2_000_000),
        )
        found = play("reno", events=events)
        assert delivered(found, 2.2, 4) == 0
        assert 240_000 < delivered(found, 5.5, 6.5) < 300_000

    def test_marks_reach_the_sender(self):
        found, other = play("cubic", threshold=30_000), play("cubic")
        assert (found.packets["marked"] == 1).any()
        assert found.samples["window"].max() < other.samples["window"].max()

    def test_other_packets_than_quic_allows(self):
        assert "at least 1228 bytes" in play("reno", packet=1000).failure


def test_no_other_version():
    with pytest.raises(InputError, match="--source names the folder"):
        Adaptor().build("1.0.0")


def test_no_installation(tmp_path):
    with pytest.raises(InputError, match=r"no libngtcp2\.pc"):
        Adaptor().build(source=tmp_path)


@needs_ngtcp2
@needs_compiler
def test_installation_in_a_folder():
    system = Adaptor().build()
    chosen = Adaptor().build(source=Path("/usr"))
    assert chosen.version == system.version
    assert chosen.command != system.command  # another run path


def test_no_pkg_config(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="there is no pkg-config"):
        Adaptor().build()
