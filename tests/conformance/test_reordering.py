"""Reordering within D, and acknowledgements in bursts, are jitter (docs/reference/encoding.md, section 2)."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

import ccmatic as cm
from ccmatic.answers.verification import check_trace
from ccmatic.base import InputError
from ccmatic.deployment.emulation import pipeline
from ccmatic.networks.simulation import Path, aggregation, simulate
from ccmatic.questions import describe
from ccmatic.questions import query as queries
from support.machine import needs_compiler

#: Networks of links of constant rate and of links that hide tokens.
NETWORKS = ("cbr_delay", "ccac")


def aggregated(seed, D=1):
    """A run whose acknowledgements arrive in bursts, some of them lost, so that each is late by at most D."""
    rng = Random(seed)
    bdp, steps = rng.randint(6, 60), rng.randint(8, 16)
    rates = [rng.choice((1, bdp - 1, bdp, 3 * bdp, rng.randint(1, 5 * bdp))) for _ in range(steps)]
    path = Path(rng.choice(NETWORKS), bdp, jitter=D, buffer=rng.choice((None, rng.randint(1, 4 * bdp))))
    return simulate(path, lambda seen: rates[seen.step], steps, seed, jitter=aggregation(rng.randint(0, 3)))


def broken(run, D=1):
    """The laws of the network with jitter D that a part of the run breaks."""
    trace = run.trace(1, alpha=Fraction(1, 2 * run.path.bdp))
    buffer = str(trace.constants.get("beta", "infinite"))
    query = queries.make(run.path.model.name, buffer, trace.horizon, jitter=D, delay="executions")
    return {str(fault) for fault in check_trace(query, trace.measuring(query.model.measures)).faults}


def broken_by(seeds):
    return {law for seed in seeds for law in broken(aggregated(seed))}


@needs_compiler
def test_bursts_of_acknowledgements_obey_the_laws_of_jitter():
    assert broken_by(range(80)) == set()


@needs_compiler
@pytest.mark.slow
def test_ten_thousand_runs_with_bursts_obey_the_laws():
    assert broken_by(range(10_000, 20_000)) == set()


@needs_compiler
def test_a_longer_aggregation_than_stated_is_caught():
    found = [broken(aggregated(seed, D=2), D=1) for seed in range(50)]
    assert sum("served_within_jitter" in str(laws) for laws in found) > 25


@needs_compiler
@pytest.mark.parametrize("lost", [0, 1, 3])
def test_acknowledgements_arrive_in_bursts(lost):
    path = Path("cbr_delay", 20, jitter=1)
    run = simulate(path, lambda seen: 20, 40, seed=lost, jitter=aggregation(lost))
    interval, arrivals = path.step // (lost + 1), np.unique(run.released)
    gaps = np.diff(arrivals) // interval
    assert (arrivals % interval == 0).all() and gaps.max() == lost + 1 and (lost == 0 or gaps.min() == 1)
    assert (run.released - run.started).max() <= path.bound


def test_reordering_within_the_jitter_is_jitter_in_order():
    """To a sender that counts the bytes up to the first missing one, by counts at each instant."""
    late = 0
    for seed in range(300):
        rng, D = Random(seed), 50
        admitted = np.cumsum([rng.randint(0, 20) for _ in range(60)])
        arrived = admitted + [rng.randint(0, D) for _ in admitted]
        in_order = np.maximum.accumulate(arrived)
        assert (in_order >= admitted).all() and (in_order <= admitted + D).all()
        for now in range(0, int(arrived.max()) + 1, 7):
            missing = np.flatnonzero(arrived > now)
            acknowledged = missing[0] if len(missing) else len(arrived)
            assert acknowledged == (in_order <= now).sum()
        late += (np.diff(arrived) < 0).any()
    assert late == 300


@pytest.mark.parametrize(
    "network, jitter",
    [
        ("ccac, buffer 1 bdp, aggregation 1 rtt", 1),
        ("ccac, buffer 1 bdp, jitter 1 rtt, aggregation 2 rtt", 3),
        ("24 mbit, rtt 40 ms, buffer 1 bdp, aggregation 40 ms", 1),
        ("24 mbit, rtt 40 ms, buffer 1 bdp, jitter 60 ms, aggregation 20 ms", 2),
        ("24 mbit, rtt 40 ms, buffer 1 bdp, jitter 1 rtt, aggregation 20 ms", 2),
        ("lossy, buffer 1 bdp, loss 1%, aggregation 2 rtt", 2),
    ],
)
def test_aggregation_counts_as_jitter(network, jitter):
    question = cm.ask("aimd", network, "loss <= 10%")
    assert question.query.jitter == jitter
    assert any("aggregation counts as jitter" in note for note in question.notes)


def test_the_emulator_aggregates():
    link = pipeline._link(on="24 mbit, rtt 40 ms, buffer 1 bdp, jitter 4 ms, aggregation 8 ms")
    assert (link.jitter, link.pattern) == (12 * 10**6, "aggregation")


def test_an_aggregation_without_unit_is_refused():
    with pytest.raises(InputError, match=r"the aggregation is '8'; expected such as '1 rtt' or '4 ms'"):
        describe("24 mbit, rtt 40 ms, buffer 1 bdp, aggregation 8")
