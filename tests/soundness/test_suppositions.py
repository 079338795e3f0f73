"""A solver that keeps what it learns between controllers gives the same verdicts as a fresh solver."""

import pytest

from ccmatic.answers.verification import HOLDS, VIOLATED, Outcome, Verifier, check_trace, verifier
from ccmatic.logic import isolated, real
from ccmatic.logic.solving import SAT, UNSAT, Checker, SolverOptions
from ccmatic.questions.query import load

ASKED = load("g1_t5").of_small_packets()
SOURCE = "def rate(C_L, qdel_L):\n    if qdel_L > 0:\n        return {then}\n    else:\n        return {other}\n"


@isolated
def test_a_supposition_holds_only_in_its_context():
    x, checker = real("x"), Checker(SolverOptions(("z3", "cvc5")))
    checker.add(x > 0)
    for bound, answer in ((0, UNSAT), (1, SAT), (-1, UNSAT), (2, SAT)):
        with checker.supposing(x < bound):
            assert checker.check() == answer
            if answer == SAT:
                assert 0 < checker.value(x) < bound
    checker.add(x > 5)
    assert checker.check() == SAT
    with checker.supposing(x < 5):
        assert checker.check() == UNSAT


@pytest.mark.parametrize("kept", [2, 100])
def test_verdicts_do_not_depend_on_earlier_controllers(kept, monkeypatch):
    monkeypatch.setattr(verifier, "KEPT", kept)
    pairs = ("0", "2 * C_L"), ("C_L", "2 * C_L"), ("C_L / 2", "C_L / 2"), ("2 * C_L", "C_L"), ("0", "2 * C_L")
    controllers = [ASKED.read_controller(SOURCE.format(then=then, other=other)) for then, other in pairs]
    many = Verifier(ASKED, {"C_L", "qdel_L"}, many=True)
    verdicts = [many.verify(controller) for controller in controllers]
    fresh = [Verifier(ASKED, {"C_L", "qdel_L"}).verify(controller).verdict for controller in controllers]
    assert [each.verdict for each in verdicts] == fresh
    assert {HOLDS, VIOLATED} == set(fresh)
    for each in verdicts:
        if each.trace:
            report = check_trace(ASKED, each.trace)
            assert report.outcome is Outcome.BREAKS and not report.faults
