"""The particle filter of Learn-to-Probe: each of its steps, and what it finds on links that do as it assumes."""

from fractions import Fraction

import numpy as np
import pytest

from ccmatic.answers.estimation import ParticleFilter, Signals, gap_of_all, gap_of_one, signals
from ccmatic.answers.estimation.particle_filter import COUNT, FilterState
from ccmatic.networks.simulation import Path, Simulation

BDP, RTT = 50, 0.03

#: Packets a step: less than the link serves, as many, and more.
ROUND = (20, 40, 50, 75, 150, 50, 1, 1)


def run(rates, buffer=BDP):
    """The Trace of a link of fixed rate without jitter, of a buffer in packets."""
    simulation = Simulation(Path("cbr_delay", BDP, jitter=1, buffer=buffer), jitter="none")
    for rate in rates:
        simulation.step(Fraction(rate))
    return simulation.run().trace()


def state(own, others=0.0, delay=0.0, full=False):
    return FilterState(*(np.array([each]) for each in (own, others, delay, full)))


def test_what_a_step_tells():
    told = [(each.factor, each.rtt / RTT, each.throughput, each.loss) for each in signals(run(ROUND), RTT)][:4]
    expected = [(2, 1, 0.8, 0), (1.25, 1, 1, 0), (1.5, 1.5, 1, 0), (2, 2, 1, 0.5)]
    assert told == [pytest.approx(each) for each in expected]


def test_what_is_not_served_yet_tells_nothing():
    assert len(list(signals(run([50, 50, 75, 75, 75]), RTT))) < 4


def test_a_queue_grows_by_what_the_link_does_not_serve():
    moved = ParticleFilter(RTT)._move(state(0.6), factor=2)
    assert moved.own == 1.2 and moved.others == 0 and moved.delay == pytest.approx(0.2 * RTT)
    drained = ParticleFilter(RTT)._move(state(0.5, delay=0.001), factor=1)
    assert drained.delay == 0
    full = ParticleFilter(RTT)._move(state(2.0, delay=0.05, full=True), factor=1)
    assert full.delay == 0.05


def test_particles_as_late_as_any_that_was_seen_are_divided():
    found = ParticleFilter(RTT)
    found.update(Signals(1, RTT, 1, 0))
    found._most_rtt = 1.5 * RTT
    before = state(1.0).and_(state(1.0))
    _, now = found._divide(before, state(1.0, delay=0.5 * RTT).and_(state(1.0, delay=0.4 * RTT)))
    assert now.full.tolist() == [True, False, False]
    assert now.delay.tolist() == [0.5 * RTT, 0.4 * RTT, 0.5 * RTT]


def test_one_signal_that_matches_keeps_a_particle_as_printed_and_is_not_enough_here():
    gaps = np.array([[0.0, 0.0, 1.0], [9.0, 0.0, 1.0]])
    assert gap_of_one(gaps).tolist() == [0, 0, 0.25]
    assert gap_of_all(gaps).tolist() == pytest.approx([0.9, 0, 0.75])


def test_if_none_is_left_it_begins_anew():
    found = ParticleFilter(RTT, mismatch=lambda gaps: np.ones(gaps.shape[1]))
    assert found.ranges() == {}
    for _ in range(3):
        found.update(Signals(1, RTT, 1, 0))
    assert found.begun == 2 and len(found.state.own) == COUNT


def test_the_most_throughput_and_the_least_rtt_are_bounds_or_what_is_expected():
    """It is served at three quarters of the most, and its RTT is half of R_m above the least."""
    told = Signals(1, RTT, 1.0, 0), Signals(1, 1.5 * RTT, 0.75, 0)
    now = state(0.5, delay=RTT).and_(state(1.0, delay=0.0)).and_(state(0.75, delay=0.5 * RTT))
    for bounds, expected in ((True, [[0, 2.5, 0], [0, 0.75, 0]]), (False, [[2.5, 2.5, 0], [0.75, 0.75, 0]])):
        found = ParticleFilter(RTT, bounds=bounds)
        found.update(told[0])
        found._most_throughput, found._least_rtt = 1.0, RTT
        gaps = found._gaps(now, FilterState(now.own, np.array([0.5, 0, 0.25]), now.delay, now.full), told[1])
        assert gaps[3:].tolist() == [pytest.approx(each) for each in expected]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_who_is_alone_and_knows_it_finds_the_link_rate(seed):
    """On a link without jitter that is full at times."""
    rates = (25, 30, 40, 50, 60, 70, 60, 50, 40, 30) * 4
    found, inside, width = ParticleFilter(RTT, seed, alone=1), [], []
    for rate, each in zip(rates[1:], signals(run(rates), RTT), strict=False):
        found.update(each)
        if found.state:
            low, high = found.ranges()["own"]
            inside.append(low <= rate / BDP <= high)
            width.append(high - low)
    assert all(inside[10:]) and np.mean(width[20:]) < 0.15 < width[0] / 5


def test_the_same_seed_finds_the_same():
    told = list(signals(run([30, 60, 60, 40, 40, 30]), RTT))
    filters = [ParticleFilter(RTT, 7), ParticleFilter(RTT, 7), ParticleFilter(RTT, 8)]
    for found in filters:
        for each in told:
            found.update(each)
    one, same, other = (found.ranges() for found in filters)
    assert one == same != other
