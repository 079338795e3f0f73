"""CUBIC on learners' links is RFC 9438's: its windows are those of the RFC's own formulas."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ccmatic.learning import Asked, Environment, sender
from ccmatic.learning.signals import first

PACKET, RTT = 1500, 0.1

LINKS = SimpleNamespace(rtt=jnp.ones((1, 1)), packet=jnp.int32(PACKET))
CUBIC = sender("cubic", Environment(Asked(), act="rate"))


@jax.jit
def act(memory, known):
    return CUBIC.act(memory, LINKS, SimpleNamespace(known=known), None)


class Path:
    """An RTT after the other in which all of the window is acknowledged, but for packets that are lost."""

    def __init__(self):
        self.memory = CUBIC.begin(LINKS)
        self.known = first(*(jnp.full((1, 1), RTT, jnp.float32),) * 2)
        self.window = self.decide()

    def decide(self):
        """The window in packets, from the rate."""
        self.memory, rate = act(self.memory, self.known)
        return float(rate[0, 0]) * float(self.known.now.rtt_end[0, 0]) / PACKET

    def goes_on(self, lost=0, delay=0.0):
        """The window after another RTT, which took so many seconds longer."""
        rtt, sent = (np.full((1, 1), value, np.float32) for value in (RTT + delay, self.window * PACKET))
        acked = sent - lost * PACKET
        now = self.known.now._replace(seconds=rtt, sent=sent, acked=acked, lost=sent - acked, rtt=rtt, rtt_end=rtt)
        least = np.minimum(self.known.least_rtt, rtt)
        self.known = self.known._replace(now=now._replace(out=sent), least_rtt=least)
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
    assert float(path.memory.highest[0, 0]) == pytest.approx(0.85 * before) and before < highest


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
