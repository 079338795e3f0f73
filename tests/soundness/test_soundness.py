"""Soundness: no execution is lost, and the beliefs contain the truth.

Executions come from the simulator, which shares nothing with the engine's laws.
"""

from fractions import Fraction

import pytest

from ccmatic.answers.verification.replayer import replay
from ccmatic.networks.simulation.packets import NEVER
from ccmatic.networks.simulation.paths import TICKS, Path
from ccmatic.networks.simulation.simulator import Simulation, simulate
from support.execution_checks import (
    beliefs_contain_the_truth,
    bounds_are_completed,
    breaks_only_as_published,
    frozen_is_unmoved,
    obeys_every_law,
    objectives_are_met_alike,
)
from support.executions import BOUNDS, KINDS, Sampled, on_executions
from support.sampling import each_nth


@pytest.mark.parametrize("kind", each_nth(2, KINDS))
def test_beliefs_contain_the_truth(kind):
    """Also, they agree with the engine's laws at every step. The next test shows an exception."""
    on_executions(beliefs_contain_the_truth, kind)


@pytest.mark.parametrize("kind", each_nth(2, KINDS))
def test_bounds_that_a_trace_leaves_out_are_completed(kind):
    """From first values of the engine's choice they move as they do here."""
    on_executions(bounds_are_completed, kind)


def test_c_u_may_turn_false_where_jitter_exceeds_a_step():
    """A delay may report a queue D steps ago, and a loss one step ago. With D = 2, neither reports some steps.

    Here the link is almost idle in (3, 4]. The delay observed at 4 is older. It is the last one until 5, when bytes are
    lost, and at 6 that loss is detected. So all three steps count as busy.
    """
    simulation = Simulation(Path("cbr_delay", rate=10, jitter=2, buffer=31), initial_queue=31, jitter="none")
    at = {instant: instant * simulation.path.step for instant in (Fraction("3.15"), 4, 6)}
    early, empty, end = at.values()
    simulation._release = lambda now: now if now <= early else end if now <= empty else NEVER
    for count in (1, 1, 1, 1, 50, 1):
        simulation.step(count)
    sampled = Sampled(simulation.run(), 3, 4)
    trace = sampled.with_beliefs(looseness=0)
    assert replay(trace).faults == ()
    assert trace.columns["C_U"] == (1, 1, 1, Fraction(2, 5))


@pytest.mark.slow
def test_the_executions_are_not_trivial():
    """Among the runs of each kind: losses, steps without service, long delays, and bounds that move."""
    seen = {kind: set() for kind in KINDS}
    for kind in KINDS:
        on_executions(lambda run, loose: seen[kind].update(_events(run.with_beliefs(loose))), kind, 120)  # noqa: B023
    common = {"loss", "several losses", "long delay", "C_L", "C_U", "underload", "overload"}
    jitters = {"no service", "delay grows by two"}
    assert seen["ideal"] == common
    assert seen["ccac"] - jitters == common | {"hidden tokens"}
    assert seen["varying"] - jitters == common | {"hidden tokens", "more than C"}
    assert seen["cbr_delay"] - jitters == common | {"C_Llambda"}
    assert jitters <= seen["ccac"] | seen["varying"] | seen["cbr_delay"]


def _events(trace):
    columns, e = trace.columns, trace.horizon - 1
    A, S, K, L, Q, r = (columns[name] for name in "ASKLQr")
    steps = range(1, trace.horizon)
    losses = sum(L[t] > L[t - 1] for t in steps)
    bounds = {name: columns[name] for name in BOUNDS if name in columns}
    events = {
        "loss": losses,
        "several losses": losses > 2,
        "no service": any(S[t] == S[t - 1] for t in steps),
        "delay grows by two": any(Q[t] > Q[t - 1] + 1 for t in steps),
        "long delay": max(Q) > trace.constants["D"] + 1,
        "underload": max(r) < 1,
        "overload": min(r) > 1,
        "hidden tokens": any(K[t] > A[t] - L[t] for t in range(trace.horizon)),
        "more than C": any(K[t] > K[t - 1] + 1 for t in steps),
        **{name: bound[0] != bound[e] for name, bound in bounds.items()},
    }
    return {name for name, happened in events.items() if happened}


def test_some_executions_break_the_assumption_on_the_growth_of_delay():
    """Step 2 serves nothing; step 3 serves a byte that came two steps ago."""
    simulation = Simulation(Path("cbr_delay", rate=10, jitter=1), jitter="none")
    simulation._release = lambda now: now if now <= 10 * TICKS else now + 10 * TICKS
    for count in (25, 1, 1):
        simulation.step(count)
    assert breaks_only_as_published(Sampled(simulation.run(), 1, 3)) == (
        "cbr_delay.Q_grows_by_one_a_step at t=2",
        "cbr_delay.F_grows_by_one_a_step at t=2",
    )


def test_some_executions_break_the_assumption_on_the_delay_of_the_first_byte():
    """It may have left just after t-1, while F counts until t."""
    path = Path("cbr_delay", rate=10, jitter=1, buffer=15)
    sampled = Sampled(simulate(path, lambda seen: 20, 6, jitter="latest"), 1, 6)
    faults = set(breaks_only_as_published(sampled))
    assert faults == {f"cbr_delay.F_fits_buffer_at_once at t={t}" for t in (4, 5)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_frozen_bound_is_one_that_would_not_move(kind):
    """Frozen where the moving bound ended, nothing moves it; where it began, something does, if it moved."""
    on_executions(frozen_is_unmoved, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_objectives_are_those_of_the_property(kind):
    """On executions, and where a false count of bytes makes beliefs turn false."""
    on_executions(objectives_are_met_alike, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "check", [obeys_every_law, beliefs_contain_the_truth, frozen_is_unmoved, objectives_are_met_alike]
)
def test_on_many_executions(check, kind):
    on_executions(check, kind, 300)
