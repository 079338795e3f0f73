"""Losses that were none, as told to exported senders: nothing underflows, and q_U stays above what is out."""

from functools import cache

import pytest

from ccmatic.deployment.exporting import header
from ccmatic.worlds.runtime.library import Library
from support.machine import needs_compiler

pytestmark = needs_compiler

MS, PACKET, STEP = 10**6, 1500, 20 * 10**6


@cache
def built():
    return Library(header.make("cc_probe_slow"))


def with_packets_out(packets):
    """Return a sender with `packets` in flight, sent one per ms after an acknowledged first one; and the time."""
    sender = built().sender(PACKET, 10 * MS)
    sender.sent(0, PACKET)
    sender.acked(10 * MS, 0, PACKET)
    for i in range(packets):
        sender.sent((21 + i) * MS, PACKET)
    return sender, (21 + packets) * MS


def believed(sender, now):
    """q_U in packets, two steps on."""
    sender.rate(now + 2 * STEP)
    assert sender.rate(now + 2 * STEP) < 10**12
    return sender.beliefs()["q_U"] / PACKET


@pytest.mark.parametrize("acknowledged", ["acked", "found"])
def test_a_spurious_timeout_leaves_no_trace(acknowledged):
    """All are given up, then acknowledged one by one."""
    sender, now = with_packets_out(15)
    sender.gave_up(now, 35 * MS, 15 * PACKET)
    assert believed(sender, now) >= 15 - 3
    now += 2 * STEP
    for i in range(15):
        getattr(sender, acknowledged)(now + i * MS, (21 + i) * MS, PACKET)
    now += 15 * MS
    assert sender.begun_again == 0 and believed(sender, now) == 0
    # What is sent from now on is out, none of it hidden by losses that were none.
    for _ in range(6):
        sender.sent(now + 2 * STEP, PACKET)
    assert believed(sender, now + 3 * STEP) >= 6 - 5


@pytest.mark.parametrize("overtaken_first", [False, True])
def test_what_was_given_up_is_lost_D_after_later_bytes_are_acknowledged(overtaken_first):
    """Not before: a network may change the order within D, here 10 ms."""
    sender, now = with_packets_out(15)
    sender.sent(now, PACKET)
    if overtaken_first:
        sender.acked(now + 10 * MS, now, PACKET)
    sender.gave_up(now + 10 * MS, 35 * MS, 15 * PACKET)
    if not overtaken_first:
        sender.acked(now + 10 * MS, now, PACKET)
    sender.sent(now + 20 * MS, PACKET)
    sender.found(now + 20 * MS, 21 * MS, PACKET)
    assert believed(sender, now + STEP) >= 14 - 4
    sender.acked(now + 3 * STEP, now + 20 * MS, PACKET)
    assert sender.begun_again == 0 and believed(sender, now + 3 * STEP) == 0


def test_losses_that_counted_and_were_none_make_beliefs_begin_again():
    """As where a network does not keep order."""
    sender, now = with_packets_out(15)
    sender.acked(now, 35 * MS, PACKET)
    sender.lost(now, 21 * MS, 14 * PACKET)
    sender.rate(now + 3 * STEP)
    assert sender.begun_again == 0 and sender.beliefs()["q_U"] == 0
    sender.found(now + 3 * STEP, 21 * MS, PACKET)
    assert sender.begun_again == 1 and sender.beliefs()["q_U"] == 0
    sender.in_flight(now + 3 * STEP, 13 * PACKET)
    assert sender.begun_again == 2 and sender.beliefs()["q_U"] == 13 * PACKET


def test_acknowledgements_of_more_than_was_sent_do_not_underflow():
    sender, now = with_packets_out(2)
    sender.acked(now, 22 * MS, 50 * PACKET)
    sender.lost(now, 20 * MS, 50 * PACKET)
    assert believed(sender, now) == 0
    assert sender.beliefs()["C_Llambda"] < 100 * PACKET


def test_asking_for_the_rate_after_a_pause_ends_no_steps():
    """At the very time: it is not taken for one long past."""
    sender, now = with_packets_out(5)
    sender.rate(now + 100 * STEP)
    sender.sent(now + 100 * STEP, PACKET)
    before = sender.beliefs()
    sender.sent(now + 100 * STEP, PACKET)
    assert sender.beliefs() == before and sender.step_ns == STEP
    sender.rate(now + 101 * STEP)
    assert sender.beliefs()["q_U"] <= before["q_U"] + 2 * PACKET
