"""CUBIC on learners' links is RFC 9438's: its windows are those of the RFC's own formulas; and a policy multiplies
them."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ccmatic.learning import LinkOptions, Environment, sender, trained
from ccmatic.learning.envs import rollout
from ccmatic.learning.envs.backends import Packets
from ccmatic.controllers import signal
from ccmatic.learning.envs.signals import first
from support.policies import policy

PACKET, RTT = 1500, 0.1

LINKS = SimpleNamespace(rtt=jnp.ones((1, 1)), slot=jnp.ones(1), packet=jnp.int32(PACKET))
CUBIC = sender("cubic", Environment(LinkOptions(), act="rate"))
MEMORY = signal.shared_memory()


@jax.jit
def act(memory, known):
    return CUBIC.act(memory, LINKS, SimpleNamespace(knowledge=known), None)


class Path:
    """An RTT after the other in which all of the window is acknowledged, but for packets that are lost."""

    def __init__(self):
        self.memory = CUBIC.begin(LINKS)
        self.knowledge = first(*(jnp.full((1, 1), RTT, jnp.float32),) * 2, LINKS.packet, MEMORY)
        self.window = self.decide()

    def decide(self):
        """The window in packets, from the rate."""
        self.memory, rate = act(self.memory, self.knowledge)
        return float(rate[0, 0]) * float(self.knowledge.now.rtt_end[0, 0]) / PACKET

    def goes_on(self, lost=0, delay=0.0):
        """Return the window after another RTT, which took the given number of seconds longer."""
        rtt, sent = (np.full((1, 1), value, np.float32) for value in (RTT + delay, self.window * PACKET))
        acked = sent - lost * PACKET
        now = self.knowledge.now._replace(seconds=rtt, sent=sent, acked=acked, lost=sent - acked, rtt=rtt, rtt_end=rtt)
        self.knowledge = self.knowledge.after(now._replace(out=sent), MEMORY)
        self.window = self.decide()
        return self.window


def avoiding(window, lost=1):
    """A Path that has grown to such a window, and then lost some."""
    path = Path()
    while path.window < window:
        path.goes_on()
    at = path.window
    path.goes_on(lost)
    return path, at


def test_slow_start_doubles_the_window_until_delay_rises():
    path = Path()
    assert [round(path.goes_on()) for _ in range(5)] == [20, 40, 80, 160, 320]
    before = path.window
    assert path.goes_on(delay=0.02) == pytest.approx(before)  # and the curve begins there, flat: K is 0
    assert path.goes_on() == pytest.approx(before + 1, rel=0.01)  # Reno's packet an RTT is more


def test_after_a_loss_the_window_is_the_rfc_s_cube():
    path, highest = avoiding(5000)
    K = np.cbrt(highest * 0.3 / 0.4)
    assert path.window == pytest.approx(0.7 * highest)
    for rtts in range(1, 250):
        expected = 0.4 * (rtts * RTT - K) ** 3 + highest
        assert path.goes_on() == pytest.approx(expected, rel=2e-3), rtts
    assert path.window > 1.05 * highest


def test_what_was_out_at_a_loss_makes_no_second_decrease():
    path, highest = avoiding(1000)
    assert path.goes_on(lost=100) > 0.69 * highest
    assert path.goes_on(lost=1) < 0.55 * highest


def test_a_window_below_the_last_highest_leaves_room_for_others():
    path, highest = avoiding(1000)
    path.goes_on()
    before = path.window
    path.goes_on(lost=1)
    assert float(path.memory["highest"][0, 0]) == pytest.approx(0.85 * before) and before < highest


def test_small_windows_grow_as_reno_with_this_beta():
    path, _ = avoiding(20)
    begin, rtts = path.window, 5
    for _ in range(rtts):
        path.goes_on()
    assert path.window == pytest.approx(begin + rtts * 3 * 0.3 / 1.7, rel=0.02)


def test_the_mean_window_is_the_rfc_s_for_a_rate_of_loss():
    """Section 5.1: (C (3 + β) / (4 (1 - β)))^(1/4) (RTT / p)^(3/4), of a packet lost each 1/p."""
    p, path, windows, since = 1e-5, Path(), [], 0
    for _ in range(900):
        since += path.window
        lost = since >= 1 / p
        windows.append(path.goes_on(lost=int(lost)))
        since -= lost / p
    mean = np.mean(windows[len(windows) // 3 :])
    assert mean == pytest.approx((0.4 * 3.7 / 1.2) ** 0.25 * (RTT / p) ** 0.75, rel=0.1)


SHORT = {"rate": 24, "rtt": 20, "buffer": 30_000}


def multiplying(folder, action):
    """A policy, from its file, whose action on CUBIC's window is always the same."""
    return policy(folder / "made.json", [(np.zeros((15, 1)), [action])], observe="orca", act="cubic", reward="orca")


@pytest.mark.slow
def test_a_multiplier_of_one_is_cubic_interval_by_interval(tmp_path):
    asked = LinkOptions(**{**SHORT, "rate": [8, 64]}, links="changing", period=0.4, steps=150)
    alone = Environment(asked, act="rate")
    played = (alone, sender("cubic", alone)), trained(multiplying(tmp_path, 0), asked)
    by_itself, multiplied = (rollout(*each, jax.random.key(3), 4).knowledge.now for each in played)
    assert by_itself.lost.sum() > 0
    for name in ("sent", "acked", "lost"):
        np.testing.assert_array_equal(getattr(multiplied, name), getattr(by_itself, name))


def test_a_multiplier_doubles_the_window_from_which_cubic_goes_on(tmp_path):
    """At first: no acknowledgement of the first ten packets arrives before the next, twice as many, are sent."""
    environment, who = trained(multiplying(tmp_path, 1), LinkOptions(**SHORT, steps=60))
    known = rollout(environment, who, jax.random.key(1), 1).knowledge
    sent = known.now.sent[:3, 0, 0] / PACKET
    assert environment.bounds == (-2.0, 2.0)
    assert sent[0] == 20 and known.registers["window"][1, 0, 0] == 40 + known.now.acked[1, 0, 0] / PACKET
    assert sent[1:] == pytest.approx(2 * known.registers["window"][:2, 0, 0], abs=1)
    assert (
        np.isfinite(known.registers["window"]).all() and 10**5 < known.registers["window"][-1, 0, 0] <= 2**29 / PACKET
    )


def test_a_window_that_is_multiplied_by_little_is_one_of_two_packets(tmp_path):
    """In the next intervals, before the first acknowledgements arrive."""
    environment, who = trained(multiplying(tmp_path, -2), LinkOptions(**SHORT, steps=3))
    assert rollout(environment, who, jax.random.key(1), 1).knowledge.now.sent[:, 0, 0].max() / PACKET <= 3


def test_packet_by_packet_cubic_goes_on_from_the_multiplied_window():
    packets = Packets(Environment(LinkOptions(**SHORT, steps=5), act="cubic"))
    links, state, _ = packets.reset(1)
    for _ in range(2):
        before = float(state.knowledge.registers["window"][0, 0])
        state, *_ = packets.step(links, state, np.ones((1, 1)))
        assert float(state.knowledge.now.sent[0, 0]) == pytest.approx(2 * before * PACKET, abs=PACKET)
