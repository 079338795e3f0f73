"""Exported senders whose R_m changes, is guessed or is wrong, or that report false losses.

Their beliefs are true, or the sender restarts and reports it.
"""

from functools import cache

import pytest

from ccmatic.deployment.exporting import header
from ccmatic.worlds.runtime.library import Library
from support.machine import needs_compiler
from support.sampling import each_nth

pytestmark = needs_compiler

MS, SECOND, PACKET = 10**6, 10**9, 1500

#: Bytes per second of the link, 12 Mbit/s.
RATE = 1500000

CONTROLLERS = ("cc_qdel", "cc_probe_slow", "g3_1")


@cache
def built(name):
    return Library(header.make(name))


class Flow:
    """A sender over a link of RATE with an infinite buffer, whose packets are answered R_m after they were served.
    told: (time, length of a step, beliefs) after each event."""

    def __init__(self, name, rtt):
        self.sender = built(name).sender(PACKET, rtt)
        self.now = self.free = self.due = 0
        self.answers, self.told = [], []

    def run(self, until, R_m):
        while self.now < until:
            self.now = min([self.due, *(at for at, _ in self.answers[:1])])
            if self.answers and self.answers[0][0] == self.now:
                _, sent = self.answers.pop(0)
                self.sender.rtt(self.now - sent)
                self.sender.acked(self.now, sent, PACKET)
            else:
                self.sender.sent(self.now, PACKET)
                self.free = max(self.free, self.now) + PACKET * SECOND // RATE
                self.answers.append((max([self.free + R_m, *(at for at, _ in self.answers[-1:])]), self.now))
                self.due = self.now + PACKET * SECOND // self.sender.rate(self.now)
            self.told.append((self.now, self.sender.step_ns, self.sender.beliefs()))

    def false(self, since=0):
        """Return the false beliefs, except those that a packet sent at the end of a step may explain."""
        for now, step, beliefs in self.told:
            served = RATE * step / SECOND
            if now >= since and not beliefs["C_L"] <= served <= beliefs["C_U"] + PACKET:
                yield now, beliefs["C_L"] / served, beliefs["C_U"] / served


every_controller = pytest.mark.parametrize("name", CONTROLLERS)


@every_controller
@pytest.mark.parametrize("R_m", each_nth(2, [10, 22]))
def test_beliefs_stay_true_when_r_m_falls(name, R_m):
    """Taken to be 100 ms; beliefs are formed of such steps, then rescaled."""
    flow = Flow(name, 100 * MS)
    flow.run(1 * SECOND, 100 * MS)
    assert flow.sender.step_ns == 200 * MS
    flow.run(5 * SECOND, R_m * MS)
    assert flow.sender.step_ns < 2.5 * R_m * MS
    assert not list(flow.false()) and flow.sender.begun_again == 0


@every_controller
def test_beliefs_stay_true_when_r_m_was_taken_too_large(name):
    flow = Flow(name, 100 * MS)
    flow.run(5 * SECOND, 22 * MS)
    assert not list(flow.false()) and flow.sender.begun_again == 0


@every_controller
def test_no_belief_is_formed_of_a_guessed_r_m(name):
    flow = Flow(name, 100 * MS)
    flow.sender.guessed()
    flow.run(5 * SECOND, 300 * MS)
    assert 600 * MS <= flow.sender.step_ns < 610 * MS
    assert not list(flow.false()) and flow.sender.begun_again == 0


@every_controller
@pytest.mark.parametrize("R_m", each_nth(2, [300, 66]))
def test_beliefs_begin_again_when_r_m_grows(name, R_m):
    """Two periods of 10 windows after it did, at the latest; in between the sender cannot tell it from a queue."""
    flow = Flow(name, 22 * MS)
    flow.run(1 * SECOND, 22 * MS)
    before = flow.sender.step_ns
    assert not list(flow.false()) and flow.sender.begun_again == 0
    noticed = 1 * SECOND + 2 * 10 * 9 * before
    flow.run(noticed + 80 * R_m * MS, R_m * MS)
    assert flow.sender.begun_again >= 1 and flow.sender.step_ns >= 2 * R_m * MS
    assert not list(flow.false(noticed))
    assert list(flow.false(1 * SECOND)) or R_m < 300
    assert flow.sender.beliefs()["C_L"] > 0.2 * RATE * flow.sender.step_ns / SECOND


@every_controller
def test_a_queue_does_not_lengthen_steps_for_long(name):
    """The controllers drain their queue, so that the least RTT of a period is R_m."""
    flow = Flow(name, 40 * MS)
    flow.run(8 * SECOND, 40 * MS)
    assert flow.sender.begun_again == 0 and flow.sender.step_ns == 80 * MS
    assert not list(flow.false())


class Measuring:
    """A sender that begins with an R_m of 10 ms, a step of 20 ms, asked for its rate at the end of each step."""

    def __init__(self):
        self.sender, self.now = built("cc_qdel").sender(PACKET, 10 * MS), 0
        self.steps(1)

    def steps(self, count, rtt=None):
        """Advance by steps, each with a measurement of this RTT."""
        for _ in range(count):
            self.now += self.sender.step_ns
            if rtt:
                self.sender.rtt(rtt)
            self.sender.rate(self.now)

    def windows(self, count, rtt=None):
        self.steps(9 * count, rtt)


def test_a_shorter_step_counts_when_a_whole_window_has_passed():
    """Until then packets of the longer route may arrive among those of the shorter one."""
    flow = Measuring()
    flow.steps(4, 10 * MS)
    flow.steps(5, 1 * MS)
    assert flow.sender.step_ns == 20 * MS
    flow.steps(8, 1 * MS)
    assert flow.sender.step_ns == 20 * MS
    flow.steps(1, 1 * MS)
    assert flow.sender.step_ns == 2 * MS and flow.sender.begun_again == 0


def test_windows_without_an_RTT_tell_nothing_of_the_route():
    flow = Measuring()
    flow.windows(6, 100 * MS)
    flow.windows(30)
    assert flow.sender.begun_again == 0
    flow.windows(4, 100 * MS)
    assert flow.sender.begun_again == 1 and flow.sender.step_ns == 200 * MS


def test_after_a_growth_any_more_is_one():
    """The first may have been measured of a packet that took the shorter route, and met a queue."""
    flow = Measuring()
    flow.windows(10, 100 * MS)
    flow.windows(10, 120 * MS)
    assert flow.sender.begun_again == 2 and flow.sender.step_ns == 240 * MS
    flow.windows(10, 120 * MS)
    flow.windows(20, 150 * MS)
    assert flow.sender.begun_again == 2
    flow.windows(10, 190 * MS)
    assert flow.sender.begun_again == 3


def test_growth_is_noticed_though_every_window_is_cut_short():
    """By losses that were none."""
    flow = Measuring()
    for _ in range(60):
        sent = flow.now
        for _ in range(3):
            flow.sender.sent(flow.now, PACKET)
        flow.steps(2, 100 * MS)
        flow.sender.acked(flow.now, sent + 1, PACKET)
        flow.sender.lost(flow.now, sent, PACKET)
        flow.steps(2, 100 * MS)
        flow.sender.found(flow.now, sent, PACKET)
    assert flow.sender.begun_again == 60 and flow.sender.step_ns == 200 * MS
