"""Vacuity checks: if a controller with state, or a property's premise, has no execution, it is refused.

The message names the conflicting laws.
"""

import pytest

from ccmatic.answers.verification import HOLDS, VIOLATED, Judge
from ccmatic.base import InputError
from ccmatic.questions import query as queries
from support import ccac as peers
from support.cli import run

ASSUMES = """window: bytes = above(0)
def update(window, acked, MSS):
    assume({condition})
    window = MSS
def send(window):
    return window
"""
SENDS = """window: bytes = {first}
def update(window, MSS):
    window = MSS
def send(window, R_m, MSS):
    return {sends}
"""
PERIODIC = {"given": "L[0] == 0; alpha < 1/4", "periodic": "2"}


def query(horizon=5, **premise):
    never = {"what": "S[T-1] - S[0] > 100 * C"}
    return queries.make("ccac2021", "infinite", horizon, property="avoids", thresholds={**never, **premise})


def judged(controller, asked):
    """The judgement on a source, or on the controller of a name."""
    return Judge(asked).judge(asked.read_controller(controller) if "\n" in controller else asked.controller(controller))


def conflict(controller, asked):
    """The message behind what no execution meets."""
    with pytest.raises(InputError) as caught:
        judged(controller, asked)
    told, _, names = caught.value.message.partition(", so that anything would hold; in conflict")
    assert "has no execution of " in told
    return told.partition(" that meets ")[2], names


def test_an_assumption_that_no_execution_meets_is_refused():
    given, names = conflict(ASSUMES.format(condition="acked < 0 * MSS"), query())
    assert (given, names) == ("", ": the controller and the network's law ccac2021.origin at t=0")


def test_an_assumption_that_some_execution_meets_holds():
    assert judged(ASSUMES.format(condition="acked < 9 * MSS"), query()).verdict == HOLDS


def test_a_controller_that_no_execution_follows_is_refused():
    given, names = conflict(SENDS.format(first="between(2 * MSS, MSS)", sends="window"), query())
    assert not given and names.startswith(": the controller")


@pytest.mark.parametrize(
    "first, sends",
    [("0", "window"), ("MSS", "window - 9 * MSS"), ("MSS", "window, window / R_m - 9 * MSS / R_m")],
)
def test_a_sender_that_may_send_nothing_has_executions(first, sends):
    controller = SENDS.format(first=first, sends=sends)
    assert judged(controller, query()).verdict == HOLDS
    assert judged(controller, query(what="Or(c_f[0][0] <= 0, r_f[0][0] <= 0)")).verdict == VIOLATED


@pytest.mark.parametrize(
    "premise",
    [{"given": "L[0] == 0; L[0] > 0"}, {"given": "S[1] < 0 * C"}, {"given": "c_f[0][4] > c_f[0][0]", "periodic": "1"}],
)
def test_what_is_given_and_never_so_is_refused(premise):
    given, _ = conflict("constant_window", query(**premise))
    assert given == "what is given"


def test_an_odd_horizon_at_which_copa_has_no_period_is_refused():
    given, names = conflict("copa", query(5, **PERIODIC))
    assert given == "what is given" and names.startswith(" with that: the controller")


def test_an_even_horizon_at_which_it_has_one_holds():
    assert judged("copa", query(6, **PERIODIC)).verdict == HOLDS


def test_each_controller_is_asked_for_itself():
    """One that is followed says nothing of another with the same state."""
    asked = query()
    judge = Judge(asked)
    assert judge.judge(asked.read_controller(ASSUMES.format(condition="acked < 9 * MSS"))).verdict == HOLDS
    with pytest.raises(InputError, match="no execution"):
        judge.judge(asked.read_controller(ASSUMES.format(condition="acked < 0 * MSS")))


def test_the_program_refuses_in_one_line(tmp_path):
    network = ["--model", "ccac2021", "--buffer", "infinite", "--horizon", "5", "--property", "avoids"]
    asked = ["--threshold", "what=S[1] < 0", "--threshold", "given=S[0] > 1", "--out", tmp_path / "traces"]
    code, out, err = run("verify", "constant_window", *network, *asked)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "no execution of constant_window that meets what is given, so that anything would hold" in err
    assert "in conflict with that: the network's law ccac2021.origin at t=0; expected another condition" in err


@pytest.mark.parametrize("impossible", [False, True])
def test_the_benchmark_tells_verdicts_of_no_execution(impossible):
    name, entry = next((name, entry) for name, entry in peers.sample() if entry["query"]["cca"] == "const")
    assumed = [*entry["query"]["assume"], *(["S[0] > 1"] if impossible else [])]
    cases = [{"property": "S[0] < 0", "threshold": None, "verdict": "unsat"}]
    asked = peers.benchmark().ask(name, {**entry, "query": {**entry["query"], "assume": assumed}, "cases": cases})
    assert (asked.differing, asked.empty) == ([], impossible)
