"""Which lines of a controller's own Python run at each step of a counterexample."""

import pytest

import ccmatic as cm
from ccmatic.controllers import each_of

DRAINING = '''def rate(C_L, qdel_L, R_m):
    """Drain late."""
    if (
        qdel_L > 2 * R_m
    ):
        return C_L / 2
    elif qdel_L > R_m:
        share = 3 / 4
        return share * C_L
    return 2 * C_L
'''


def of(controller, on, expect, **more):
    """The trace that breaks an expectation, and the lines that ran."""
    question = cm.ask(controller, on, expect, **more)
    answer = cm.answer(question)
    sender = each_of(question.controller)[0]
    return answer.trace, sender.lines_run(answer.report.query.numbers(answer.trace, answer.controller).flows[0])


def test_the_branch_that_a_rate_comes_from():
    trace, lines = of(
        DRAINING, "ccac, buffer infinite, jitter 1 rtt", "queue <= 3 bdp", start="queue >= 5 bdp", horizon=8
    )
    assert lines[0] == {} and len(lines) == trace.horizon
    seen = set()
    for t in range(1, trace.horizon):
        delay = trace.columns["qdel_L"][t - 1]
        if delay > 2:
            expected = {4: True, 6: True}
        elif delay > 1:
            expected = {4: False, 7: True, 8: True, 9: True}
        else:
            expected = {4: False, 7: False, 10: True}
        assert lines[t] == expected
        seen |= lines[t].keys()
    assert {6, 10} <= seen, "the counterexample takes more than one branch"


@pytest.mark.parametrize("beside", ["", " beside cubic"])
def test_the_branch_that_an_update_takes(beside):
    """Reno counts what was acknowledged (14), looks for a timeout (15), and sends its window (41)."""
    expect = f"share >= 40%{beside}" if beside else "utilisation >= 80%"
    trace, lines = of("reno", "ccac, buffer 1 bdp", expect)
    suffix = "1" if beside else ""
    fired = 0
    for t, ran in enumerate(lines):
        assert ran[41] is True
        if 14 in ran and ran[15]:
            fired += 1
            assert {16, 17, 18, 19, 20} <= ran.keys() and 21 not in ran
            assert trace.columns[f"searching{suffix}"][t] == 0
    assert any(14 in ran for ran in lines) and 14 not in lines[0]
