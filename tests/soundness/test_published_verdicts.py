"""Others' verdicts are ours: those of the tool that the paper's authors published."""

from fractions import Fraction

import pytest

from ccmatic.answers.verification.replayer import Outcome, replay
from ccmatic.answers.verification.verifier import HOLDS, VIOLATED
from support.execution_checks import as_published
from support.peers import PEERS, counterexample_to, differing, peer_query
from support.sampling import each_nth


@pytest.mark.parametrize("file", each_nth(2, PEERS), ids=lambda file: file.stem)
def test_verdicts_are_the_published_tools(file):
    query, candidates = peer_query(file)
    assert {verdict for _, verdict in candidates} == {HOLDS, VIOLATED}
    differ = differing(query, candidates)
    told = [f"{verdict.verdict} here:\n{controller.source}" for controller, verdict in differ]
    assert not told, "\n".join(told)


def test_one_verdict_differs_on_all_executions():
    """A step may pass without any service. Then the delay measured stays as it was, and jumps by two steps in
    the next: the controller sees qdel_L = 0, and sends at 2·C_L, for a step longer than the published model's
    assumption allows, which overfills the queue."""
    [file] = [file for file in PEERS if file.stem == "ccac_infinite_T5"]
    query, candidates = peer_query(file, "executions")
    [(controller, verdict)] = differing(query, candidates)
    assert verdict.verdict == VIOLATED
    for delay, rate in (Fraction(1), 0), (Fraction(0), 2):
        assert controller.rate({"C_L": 1, "qdel_L": delay}) == rate
    trace = counterexample_to(query, controller)
    assert replay(trace).outcome is Outcome.BREAKS
    assert any(trace.columns["S"][t] == trace.columns["S"][t - 1] for t in range(1, trace.horizon))
    assert any(fault.startswith("ccac.Q_grows_by_one_a_step") for fault in replay(as_published(trace)).faults)
