"""When the next packet is due, for stacks whose timer is set when a packet leaves and cannot be set anew."""

from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp

import pytest

from ccmatic.deployment.exporting import header
from ccmatic.worlds.runtime.library import Library
from support.machine import needs_compiler

pytestmark = needs_compiler

PACKET, STEP = 1500, 20 * 10**6


@cache
def built(packets):
    """Return the text of a controller that sends a given number of packets per step."""
    file = Path(mkdtemp()) / "steady.py"
    file.write_text(f"def rate(C_L, MSS, R_m):\n    return {packets} * MSS / R_m\n")
    return Library(header.make(str(file)))


def sent(packets, until, late=lambda due: 0):
    """When packets leave by the timer. late: by how much a packet that is due then leaves late, in ns."""
    sender, now, due, times = built(packets).sender(PACKET, STEP // 2), 0, 0, []
    while now < until:
        due, now = sender.next(now, due), now
        sender.sent(now, PACKET)
        times.append(now)
        now = due + late(due)
    return times


def in_steps(times):
    """How many left in each step; a packet at the very end of one, when the timer goes off, is of the next."""
    counts = [0] * (times[-1] // STEP + 1)
    for time in times:
        counts[time // STEP] += 1
    return counts


@pytest.mark.parametrize(
    "packets, counts", [("1", [1] * 12), ("7", [7] * 12), ("5/2", [2, 3] * 6), ("4/3", [1, 1, 2] * 4)]
)
def test_a_step_sends_whole_packets_and_leaves_the_rest_for_the_next(packets, counts):
    assert in_steps(sent(packets, 12 * STEP))[:12] == counts


@pytest.mark.parametrize("packets", ["1", "3", "7", "148", "1000"])
def test_packets_leave_evenly_and_the_first_at_the_start_of_each_step(packets):
    """So at the start of a step it is known what that sends: nothing of the step before holds it up."""
    times = sent(packets, 5 * STEP)
    starts = set(times) & {k * STEP for k in range(5)}
    assert len(starts) == 5
    gap = STEP / int(packets)
    assert all(abs(after - before - gap) <= int(packets) for before, after in pairwise(times))


def test_what_is_late_is_made_up_for():
    """Timers are never early, and late by a little: as many leave in each step, none of them closer than half the
    distance that the rate says."""
    times = sent("50", 10 * STEP, late=lambda due: due // 1000 % 300000)
    assert in_steps(times)[:9] == [50] * 9
    assert min(after - before for before, after in pairwise(times)) >= STEP / 100


def test_a_stall_does_not_end_in_a_burst():
    """Half of a step is lost, but for a 32nd of it."""
    times = sent("100", 3 * STEP, late=lambda due: STEP // 2 if due == STEP + STEP // 4 else 0)
    assert in_steps(times)[0] == 100 and in_steps(times)[2] == 100
    assert 50 <= in_steps(times)[1] <= 50 + 100 // 32 + 1
