"""The same links with real packets: measurements agree, nearly, and the log of the packets decides."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import os

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from ccmatic.base import InputError
from ccmatic.learning import LinkEnv
from support.machine import on_time

LINK = {"act": "rate", "observe": "aurora", "reward": "aurora", "rate": 24, "rtt": 40, "buffer_bdp": 1, "steps": 40}


def played(env):
    """Throughput (Mbit/s), RTT (ms) and loss of each step at 4/5 of the link's rate and, from the 21st on, at 5/4 of
    it; and what was wrong with the run."""
    env.reset(seed=3)
    told, over = [], False
    while not over:
        *_, over, found = env.step([3e6 * (0.8 if len(told) < 20 else 1.25)])
        faults = found.pop("faults", ())
        told.append([*found.values()])
    return np.array(told), faults


@pytest.mark.slow
def test_fluids_are_near_real_packets(emulator):
    real, _ = on_time(lambda: played(LinkEnv(backend="emulator", **LINK)), lambda found: (0, 99 if found[1] else 0))
    fluid, _ = played(LinkEnv(**LINK))
    for part in (slice(5, 20), slice(30, 40)):
        assert (np.abs(np.median(real[part], 0) - np.median(fluid[part], 0)) <= (0.5, 2, 0.02)).all()


def marked(env):
    """The marked packets that the sender was told of, after 30 steps at 5/4 of the rate, and what was wrong."""
    env.reset(seed=3)
    told, over = [], False
    while not over:
        observation, _, _, over, found = env.step([3e6 * 1.25])
        told.append(float(observation[-1]))
    return sum(told[:30]), found.get("faults", ())


@pytest.mark.slow
def test_fluids_mark_nearly_as_many_real_packets(emulator, tmp_path):
    (tmp_path / "marks.py").write_text("def observe(marked, MSS):\n    return [marked / MSS]\n")
    link = LINK | {"model": "marking", "observe": str(tmp_path / "marks.py"), "first": 1.25, "buffer_bdp": 4}
    real, _ = on_time(lambda: marked(LinkEnv(backend="emulator", **link)), lambda found: (0, 99 if found[1] else 0))
    fluid, _ = marked(LinkEnv(**link))
    assert fluid > 1000 and abs(real - fluid) <= 0.05 * fluid


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*(Box observation|symmetric and normalized).*:UserWarning")
def test_the_check_of_an_environment_of_real_packets_finds_nothing(emulator):
    check_env(gymnasium.make("ccmatic/RealLink-v0", steps=10, jitter=3).unwrapped)


def test_only_root_sends_real_packets(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(InputError, match="emulation needs root"):
        LinkEnv(backend="emulator")


@pytest.mark.parametrize("options, message", [
    ({"links": "smooth"}, "smooth links over the emulator; expected constant or changing ones"),
    ({"loss": 0.1}, "random losses over the emulator; expected none"),
    ({"jitter": 4, "pattern": "latest"}, "the pattern 'latest' over the emulator; expected uniform"),
    ({"packet": 1200}, "packets of 1200 bytes over the emulator; expected 1500"),
])  # fmt: skip
def test_what_the_emulator_has_not_is_refused(options, message, emulator):
    with pytest.raises(InputError) as refused:
        LinkEnv(backend="emulator", **options)
    assert message in str(refused.value)
