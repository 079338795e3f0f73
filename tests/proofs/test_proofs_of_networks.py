"""Proofs for all time on a policer, on a marking link, and on the network that is true of executions."""

from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.answers.verification import Outcome
from ccmatic.logic import no, some
from ccmatic.logic.solving import SAT, UNSAT, Checker
from ccmatic.proving.invariants import Answer, Claim
from ccmatic.proving.invariants.proof import prove
from ccmatic.questions import query as queries
from ccmatic.questions.query import Network, Query
from support.sampling import each_nth


@pytest.mark.parametrize("controller", each_nth(2, ["cc_qdel", "cc_qdel_wide"]))
def test_c_l_becomes_high_on_a_policer_and_the_link_is_used(controller, tmp_path):
    """With a higher bound of C_L a window breaks a lemma, and its replay shows this."""
    proved = cm.prove(controller, "policer", tmp_path)
    assert proved.verdict == "holds" and proved.claim
    assert proved.constants["C_L_least"] == Fraction(3, 4) and proved.constants["utilisation"] == 1
    [beyond] = tmp_path.rglob("beyond_C_L_least.json")
    assert cm.replay(beyond).outcome is Outcome.BREAKS


@pytest.mark.parametrize("controller, share", each_nth(2, [("cc_qdel", "39/50"), ("cc_qdel_wide", "53/100")]))
def test_beliefs_stay_true_and_the_link_is_used_without_pauses(controller, share, tmp_path):
    """With a larger share a window without a pause breaks the lemma, and its replay shows this."""
    proved = cm.prove(controller, "link_rate_pauses", tmp_path)
    assert proved.verdict == "holds" and proved.claim
    assert proved.constants["utilisation"] == Fraction(share)
    [beyond] = tmp_path.rglob("beyond_utilisation.json")
    assert cm.replay(beyond).outcome is Outcome.BREAKS


def weaker(strong, weak, horizon, buffer):
    """Whether some execution of a model breaks a law of another model."""
    about = {"jitter": 1, "property": "avoids", "thresholds": {"what": "T < 0"}}
    first, second = (queries.make(model, buffer, horizon, **about) for model in (strong, weak))
    x, checker = first.execution(), Checker()
    for law in first.laws(x):
        checker.add(law.formula)
    checker.add(some([no(law.formula) for law in second.laws(x)]))
    return checker.check()


#: A network, another one with the laws of a proof, and the horizon and the buffer.
COVERED = [
    ("marking:threshold=1/2", "ccac", 11, ">=6", UNSAT),
    ("marking_windows:threshold=1/2", "ccac_windows", 8, "1", UNSAT),
    ("lossy", "ccac", 11, ">=6", SAT),
    ("marking_windows:threshold=1/2", "ccac2021_anywhere", 8, "1", SAT),
]


@pytest.mark.parametrize("network, other, horizon, buffer, outcome", COVERED)
def test_executions_of_a_marking_link_are_executions_without_marks(network, other, horizon, buffer, outcome):
    """So proofs on CCAC and on its network that is true of executions cover marking links, if no mark is read."""
    assert weaker(network, other, horizon, buffer) == outcome


def invariant(controller, model, buffer, claim):
    """The outcome of the search for an inductive invariant, from an informed start."""
    network = Network(model, buffer=buffer, horizon=4)
    query = Query(network, "expects", what="queue <= 1 bdp", start="informed")
    return prove(query, query.controller(controller), claim, 300)


@pytest.mark.parametrize("controller", each_nth(2, ["cc_qdel", "cc_qdel_wide"]))
def test_pauses_do_not_lengthen_the_queue(controller):
    """The bound of 7·C·R_m is also the bound without pauses (tests/proofs/test_invariants.py)."""
    proved = invariant(controller, "ccac:application=pauses", "infinite", Claim("queue", "<=", Fraction(7)))
    assert proved.answer is Answer.PROVED and proved.invariant.fault() is None


@pytest.mark.slow
def test_cc_qdel_uses_a_link_that_loses_bytes_by_chance():
    claim = Claim("utilisation", ">=", Fraction(1, 4), Fraction(20))
    proved = invariant("cc_qdel", "lossy:loss_rate=1/100", "1", claim)
    assert proved.answer is Answer.PROVED and proved.invariant.fault() is None


@pytest.mark.slow
def test_aimd_keeps_its_bounds_on_the_network_of_executions():
    proved = cm.prove("aimd_any_start", "aimd_executions")
    assert proved.verdict == "holds" and proved.claim
