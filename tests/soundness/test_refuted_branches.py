"""A synthesis first asks for a counterexample that stays in one branch of a candidate."""

import pytest

from ccmatic.answers.verification import VIOLATED, Outcome, Part, Verifier, check_trace
from ccmatic.questions import query

ASKED = query.load("g1_t5").of_small_packets()


@pytest.fixture
def verifier():
    reads = {"C_L", "qdel_L"}
    return Verifier(ASKED, reads, proved=Verifier(ASKED, reads).prove())


def candidate(then, other):
    return ASKED.read_controller(
        f"def rate(C_L, qdel_L):\n    if qdel_L > 0:\n        return {then}\n    else:\n        return {other}\n"
    )


@pytest.mark.parametrize(("then", "other"), [("C_L / 2", "C_L / 2"), ("2 * C_L", "C_L / 2")])
def test_a_counterexample_stays_in_a_branch_and_breaks_the_property(then, other, verifier):
    controller = candidate(then, other)
    verdict = verifier.refute_branch(controller)
    assert verdict.verdict == VIOLATED and verdict.trace.controller == controller.source
    report = check_trace(ASKED, verdict.trace)
    assert report.outcome is Outcome.BREAKS and not report.faults
    assert len({delay > 0 for delay in verdict.trace.columns["qdel_L"][:-1]}) == 1


def test_only_counterexamples_of_one_branch_count(verifier):
    controller = ASKED.controller("cc_qdel")
    assert verifier.refute_branch(controller) is None
    assert verifier.verify(controller).verdict == VIOLATED


def test_a_branch_without_a_counterexample_is_asked_once(verifier, monkeypatch):
    asked, ask = [], Part.ask
    monkeypatch.setattr(Part, "ask", lambda part, *rest: (asked.append(rest), ask(part, *rest))[1])
    for other, count in (("2 * C_L", 2), ("2 * C_L", 2), ("C_L / 2", 3)):
        verifier.refute_branch(candidate("C_L / 2", other))
        assert len(asked) == count
