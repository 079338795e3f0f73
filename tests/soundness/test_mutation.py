"""Planted faults: each is caught by checks that other tests make.

A fault that is too strong (the laws lose executions) is found on simulated runs, or where a peer says
violated and we would hold; one that is too weak where a peer says holds, or in a trace that it lets through.
Faults are planted in the engine itself: where a name there changes, it does here.
"""

from fractions import Fraction
from functools import cache
from itertools import chain
from random import Random

import pytest
from ccmatic.templates.two_branches import TEMPLATE

from ccmatic import controllers as cca
from ccmatic.answers.verification.replayer import Outcome, complete, replay
from ccmatic.answers.verification.verifier import Verifier
from ccmatic.networks.simulation import paths
from ccmatic.networks.simulation.simulator import simulate
from ccmatic.questions import query as queries
from support import ROOT, encodings, execution_checks, executions, frozen_and_moving, peers
from support.faults import FAULTS, IMPLIED
from support.planting import dropped
from support.sampling import each_nth

CONTROLLERS = ROOT / "examples" / "controllers"


@cache
def runs(kind):
    """A few sampled runs, simulated before any fault is planted."""
    return [_run(kind, Random(seed)) for seed in range(20)]


def _run(kind, rng):
    room = rng.choice((None, 5, 12, 30))
    rates = rng.choice((range(1, 10), range(11, 40), (10, 11, 12), (1, 9, 10, 11, 30)))
    counts = [rng.choice(rates) for _ in range(12)]
    run = simulate(
        paths.Path(kind, rate=10, jitter=0 if kind == "ideal" else rng.choice((1, 2)), buffer=room),
        lambda seen: counts[seen.step],
        len(counts),
        seed=rng.random(),
        initial_queue=rng.choice((0, 10, 30)),
        jitter=rng.choice(sorted(paths.JITTER)),
        hiding=rng.choice(sorted(paths.HIDING)),
    )
    return executions.Sampled(run, rng.randint(1, 4), rng.randint(5, 8))


def on_runs(check):
    """A check of sampled runs, of all kinds."""

    def checked():
        for number, sampled in enumerate(chain.from_iterable(zip(*map(runs, executions.KINDS), strict=True))):
            check(sampled, Fraction(number % 5, 4))
            yield True

    return checked


def laws():
    """The laws are those of docs/reference/encoding.md."""
    networks = (("ccac", "any", 1), ("cbr_delay", "any", 1), ("ideal", "any", 0), ("ccac", ">=2", 2))
    for network in networks:
        yield not list(encodings.laws_that_differ(*network))


def published():
    """Verdicts are the published tool's."""
    for file in peers.PEERS:
        query, candidates = peers.peer_query(file)
        reads = set().union(*(controller.parameters for controller, _ in candidates)) & query.units().keys()
        verifier = Verifier(query, reads)
        yield from (verifier.verify(controller).verdict == verdict for controller, verdict in candidates)


def agreement():
    """Frozen and moving encodings answer alike, and queries with and without what is taken for granted."""
    yield from (one == other for one, other in frozen_and_moving.on_large_losses("ccac", TEMPLATE))
    for compared in frozen_and_moving.COMPARED:
        yield from (one == other for one, other in frozen_and_moving.on_windows(*compared[:3]))
        yield from (one == other for one, other in frozen_and_moving.on_candidates(*compared))


CHECKS = {
    "executions": on_runs(execution_checks.obeys_every_law),
    "beliefs": on_runs(execution_checks.beliefs_contain_the_truth),
    "completed": on_runs(execution_checks.bounds_are_completed),
    "frozen": on_runs(execution_checks.frozen_is_unmoved),
    "objectives": on_runs(execution_checks.objectives_are_met_alike),
    "encoding": laws,
    "peers": published,
    "agreement": agreement,
}
#: Networks and wrong controllers, whose traces are replayed.
REPLAYED = [
    (name, model, buffer, horizon)
    for name in ("always_double", "inverted_qdel", "always_half", "additive")
    for model, buffer, horizon in (
        ("ccac", "any", 5),
        ("cbr_delay", "any", 5),
        ("ideal", "1", 4),
        ("ccac", "1/2", 5),
    )
]


def caught(plant, check):
    """Whether a check catches a fault."""
    for kind in executions.KINDS:
        runs(kind)
    if check == "replay":
        return not all(_replays(plant, *failure) for failure in REPLAYED)
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        try:
            return not all(CHECKS[check]())
        except AssertionError:
            return True


def _replays(plant, name, model, buffer, horizon):
    """Whether the trace that the faulty verifier finds, if any, passes replay by the laws as they are."""
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        query = queries.make(model, buffer, horizon)
        controller = cca.load(CONTROLLERS / f"{name}.py", query.units())
        trace = Verifier(query, set(controller.parameters) & query.units().keys()).verify(controller).trace
        trace = complete(query, trace) if trace and trace.controller else trace
    report = trace and replay(trace)
    return not report or report.outcome is Outcome.BREAKS


@pytest.mark.slow
def test_nothing_is_caught_where_nothing_is_planted():
    assert [check for check in (*CHECKS, "replay") if caught(lambda patch: None, check)] == []


@pytest.mark.parametrize("fault", each_nth(5, FAULTS))
def test_a_planted_fault_is_caught(fault):
    plant, check, *_ = FAULTS[fault]
    assert caught(plant, check)


@pytest.mark.slow
@pytest.mark.parametrize("fault, check", [(fault, check) for fault in FAULTS for check in FAULTS[fault][2:]])
def test_a_planted_fault_is_caught_by_others_too(fault, check):
    assert caught(FAULTS[fault][0], check)


@pytest.mark.parametrize("law", IMPLIED)
def test_a_law_that_the_others_imply_changes_nothing(law):
    assert not caught(dropped(law), "encoding")
