"""The model `varying`: the behaviour of a link whose rate varies, and its beliefs (docs/reference/encoding.md, section
2).

test_soundness.py tests with the other models that its executions obey its laws, and that its beliefs are true.
"""

from fractions import Fraction

import pytest
from ccmatic.models.varying import Varying

from ccmatic.answers.verification.replayer import replay
from ccmatic.contracts import execution
from ccmatic.logic import every, formula, no
from ccmatic.logic.solving import SAT, UNSAT, Checker
from ccmatic.networks.simulation.paths import Path
from ccmatic.networks.simulation.simulator import simulate
from ccmatic.questions import query as queries
from support.executions import Sampled


class Constant(Varying):
    """γ = 1."""

    variation = 1


def answer(condition, model="varying", horizon=4):
    """Whether the condition is true of some execution that begins with true beliefs."""
    query = queries.make(model, "any", horizon, delay="executions")
    x = query.execution()
    checker = Checker()
    for law in [*query.laws(x), *query.model.belief_laws(x)]:
        checker.add(law.formula)
    checker.add(condition(x))
    return checker.check()


def at_end(x, name):
    return x.beliefs[name][x.horizon - 1]


def test_c_l_is_of_the_most_that_the_rate_was():
    """It may pass C, and by no more than γ."""
    assert answer(lambda x: at_end(x, "C_L") > x.C) == SAT
    assert answer(lambda x: at_end(x, "C_L") > Fraction(3, 2) * x.C) == UNSAT
    assert answer(lambda x: at_end(x, "C_L") > x.C, "ccac") == UNSAT


def test_c_u_is_of_the_least_that_the_rate_was():
    """It may fall below γ·C, and not below C."""
    assert answer(lambda x: at_end(x, "C_U") < Fraction(3, 2) * x.C) == SAT
    assert answer(lambda x: at_end(x, "C_U") < x.C) == UNSAT


def test_true_bounds_may_cross():
    """C_L > C_U says that the rate moved, not that a bound is false."""
    crossed = answer(lambda x: no(at_end(x, "C_L") <= at_end(x, "C_U")))
    assert crossed == SAT
    assert answer(lambda x: no(at_end(x, "C_L") <= at_end(x, "C_U")), "ccac") == UNSAT


def test_a_link_that_does_not_vary_is_ccac():
    """With γ = 1 and an infinite buffer its laws are those of CCAC, word for word, and the one on r at 0."""
    ccac = queries.make("ccac", "infinite", 5)
    x = execution(ccac.model, 5, ccac.buffer, 1)
    one, other = ([*model.laws(x), *model.belief_laws(x)] for model in (Constant(), ccac.model))
    (extra,) = [law for law in one if law.name == "Q_is_time_since_sent_at_r"]
    assert [formula(law.formula) for law in one if law is not extra] == [formula(law.formula) for law in other]


def test_what_was_sent_before_the_last_step_was_not_sent_in_it():
    """If only the step before the trace can decide about a delay, r at 0 decides."""

    def late_and_quick(x):
        return every(x.S[1] > 0, x.S[1] <= x.admitted(0) - x.r[0], no(x.Q.at_least(1, 2)))

    assert answer(late_and_quick) == UNSAT
    assert answer(late_and_quick, "ccac") == SAT


@pytest.mark.parametrize("buffer", ["infinite", "any"])
def test_every_execution_of_ccac_is_one(buffer):
    """One in which r at 0 is what was sent until then, at least, as CCAC does not say. And there are more."""
    assert _outside("ccac", "varying", buffer) == UNSAT
    assert _outside("varying", "ccac", buffer) == SAT


def _outside(model, other, buffer):
    """Whether an execution of a model breaks a law of another one."""
    query, wider = (queries.make(name, buffer, 4, delay="executions") for name in (model, other))
    x = query.execution()
    checker = Checker()
    for law in query.laws(x):
        checker.add(law.formula)
    checker.add(x.r[0] >= x.admitted(0))
    checker.add(no(every([law.formula for law in wider.laws(x)])))
    return checker.check()


def test_bytes_may_be_lost_in_a_step_that_ends_with_room():
    """The link is slow in the first half of a step and fast in the other."""
    path = Path("varying", rate=8, jitter=1, buffer=2)
    runs = (Sampled(simulate(path, lambda seen: 9, 8, seed, jitter="none", hiding="never"), 1, 8) for seed in range(99))
    trace = next(run.trace for run in runs if _room_after_loss(run.trace))
    assert replay(trace).faults == ()


def _room_after_loss(trace):
    A, L, K = (trace.columns[name] for name in "ALK")
    steps = range(1, trace.horizon)
    return any(L[t] > L[t - 1] and A[t] - L[t] < K[t] + trace.constants["beta"] for t in steps)
