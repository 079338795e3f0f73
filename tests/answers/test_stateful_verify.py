"""Controllers with state are verified and replayed: their own Python says what each step of a trace has to be."""

from fractions import Fraction
from functools import cache

import pytest

from ccmatic.answers.verification import HOLDS, VIOLATED, Judge, Outcome, check_trace, replay
from ccmatic.base import InputError
from ccmatic.contracts import following
from ccmatic.controllers import Stateful
from ccmatic.logic import linear
from ccmatic.questions import query as queries
from support.cli import lines, run
from support.sampling import each_nth

LOW = {"what": "S[T-1] - S[0] < 1/10 * C * T", "given": "L[0] == 0", "periodic": "2"}


def query(buffer="infinite", horizon=8, **thresholds):
    return queries.make("ccac2021", buffer, horizon, property="avoids", thresholds=thresholds or LOW)


def judged(name, asked):
    """The judgement on a controller, or on that of a name."""
    return Judge(asked).judge(asked.controller(name))


@cache
def bbr():
    """The judgement on BBR: it may stay as low as that for ever."""
    return judged("bbr", query())


@pytest.mark.parametrize("name", each_nth(2, ["bbr", "copa", "constant_window"]))
def test_what_is_violated_replays(name):
    judgement = bbr() if name == "bbr" else judged(name, query())
    assert judgement.verdict == VIOLATED and judgement.report.outcome is Outcome.BREAKS
    trace = judgement.trace
    assert trace.columns["S"][7] - trace.columns["S"][0] < Fraction(8, 10)
    assert trace.columns["cwnd"][7] == trace.columns["cwnd"][1]


def test_what_holds_holds():
    """Where nothing is lost at first and no timeout fires, AIMD with an infinite buffer never stays so low."""
    assert judged("aimd", query()).verdict == HOLDS


@pytest.mark.parametrize(
    "column", each_nth(2, ["window", "recover", "recovering", "since", "changed", "cwnd", "Ld", "W"])
)
def test_a_trace_whose_state_was_changed_is_refused(column):
    asked = query("1", 6, what="c_f[0][T-1] < 1/2", given="c_f[0][0] >= 1; L[0] == 0; alpha < 1/4")
    trace = judged("aimd", asked).trace
    assert not check_trace(asked, trace).faults
    found = []
    for t in range(trace.horizon):
        values = list(trace.columns[column])
        values[t] = 1 - values[t] if column in ("recovering", "changed") else values[t] + Fraction(1, 7)
        found.append(check_trace(asked, trace.with_columns(**{column: tuple(values)})).faults)
    assert all(found[1:]) if column not in ("recover", "since", "W") else any(found)


def as_bbr(edit):
    """BBR's source with a change."""
    source = query().controller("bbr").source
    assert edit[0] in source
    return source.replace(*edit)


FAULTS = [("acked - acked[R_m]", "acked - acked[2 * R_m]"), ("5 / 4", "1"), ("phase == 0", "phase == 2 * R_m")]


@pytest.mark.parametrize("edit", FAULTS, ids=[new for _, new in FAULTS])
def test_a_trace_is_of_its_own_controller_and_of_no_other(edit):
    asked = query()
    trace = bbr().trace
    other = trace.__class__(**{**vars(trace), "controller": as_bbr(edit)})
    assert any(fault.startswith("sender.") for fault in check_trace(asked, other).faults)


def test_an_update_that_reads_the_future_is_refused():
    asked = query()
    with pytest.raises(InputError, match="of -1 steps before is of a step to come, not yet observed"):
        judged(asked.read_controller(as_bbr(("acked[R_m]", "acked[R_m - 2 * step]"))), asked)


def test_an_update_that_reads_between_two_steps_is_refused():
    asked = query()
    with pytest.raises(InputError, match="of 1/2 steps before is between two steps"):
        judged(asked.read_controller(as_bbr(("acked[R_m]", "acked[R_m / 2]"))), asked)


def test_what_is_observed_later_only_may_not_be_read_after_a_decision():
    """It reads what was acknowledged five steps before, but from step 3 on only, so it decides at steps 1 and 2."""
    source = (
        "window: bytes = above(0)\ndef update(window, acked, time, step, MSS):\n"
        "    if time >= 3 * step and acked[5 * step] > 0:\n        window = MSS\n"
        "def send(window):\n    return window\n"
    )
    asked = query()
    with pytest.raises(InputError, match="reads `acked` at step 3 by when it is not observed, but decides before"):
        judged(asked.read_controller(source), asked)


@pytest.mark.parametrize("name", ["A", "S", "cwnd", "W", "Q"])
@pytest.mark.parametrize("model", ["ccac2021", "ccac2021_two_flows"])
def test_state_that_is_called_like_a_column_is_refused(name, model):
    source = (
        f"{name}: bytes = above(0)\ndef update({name}, MSS):\n    {name} = MSS\ndef send({name}):\n    return {name}\n"
    )
    asked = queries.make(model, "infinite", 4, property="avoids", thresholds=LOW)
    with pytest.raises(InputError, match=f"the state `{name}` has the name of a column of the trace"):
        judged(asked.read_controller(source), asked)


def test_an_assumption_leaves_executions_out():
    """Copa's published rule has no execution in which acknowledgements stall; without it, there is one."""
    stalls = {"what": "ANYT(3, T-1, lambda t: And(S[t] == S[t-1], S[t-1] > A[0]))"}
    asked = query(horizon=7, **stalls)
    assert judged("copa", asked).verdict == HOLDS
    free = asked.controller("copa").source.replace("    assume(may_increase or may_decrease)\n", "")
    assert judged(asked.read_controller(free), asked).verdict == VIOLATED


def test_many_choices_are_replayed_one_by_one():
    """Not in each combination: of 40 choices there are 2**40."""
    names = [f"choice_{number}" for number in range(40)]
    state = "".join(f"{name}: bytes = 0\n" for name in names)
    chosen = "".join(f"    {name} = any_of(MSS, 2 * MSS)\n" for name in names)
    asked = query(horizon=4, what="S[T-1] > S[0]")
    source = f"{state}def update(MSS):\n{chosen}def send(MSS):\n    return MSS\n"
    judgement = judged(asked.read_controller(source), asked)
    assert judgement.verdict == VIOLATED and judgement.report.outcome is Outcome.BREAKS
    trace = judgement.trace
    changed = (*trace.columns[names[-1]][:-1], 3 * trace.constants["MSS"])
    faults = check_trace(asked, trace.with_columns(**{names[-1]: changed})).faults
    assert faults == ("sender.state_is_the_controllers at t=3",)


def test_the_program_verifies_and_replays(tmp_path):
    network = ["--model", "ccac2021", "--buffer", "infinite", "--horizon", "8", "--property", "avoids"]
    thresholds = [part for name, value in LOW.items() for part in ("--threshold", f"{name}={value}")]
    code, out, _ = run("verify", "aimd", "constant_window", *network, *thresholds, "--json", cwd=tmp_path)
    holds, violated = lines(out)
    assert (code, holds["verdict"], violated["verdict"]) == (1, HOLDS, VIOLATED)
    code, out, _ = run("replay", violated["trace"], "--json", cwd=tmp_path)
    assert code == 0 and lines(out)[0]["outcome"] == "breaks"


def test_a_saved_trace_names_its_controller(tmp_path):
    trace = bbr().trace
    trace.save(tmp_path / "bbr.json")
    report = replay(trace.load(tmp_path / "bbr.json"))
    assert isinstance(report.controller, Stateful) and report.outcome is Outcome.BREAKS


def test_a_proof_of_beliefs_says_where_it_can_be_proved(tmp_path):
    code, _, err = run("prove", "aimd", "--proof", "cc_qdel", cwd=tmp_path)
    assert code == 2 and "on ccac senders send by a rate, and it sends by a window" in err


def test_a_belief_model_has_no_windows(tmp_path):
    code, _, err = run("verify", "aimd", "--model", "ccac", "--buffer", "any", "--horizon", "5", cwd=tmp_path)
    assert code == 2 and "aimd.py" in err and "it sends by a window" in err


def test_state_of_several_flows_is_no_column_of_the_model():
    """Regression: flow 1's state K became the column K1, the tokens of flow 1, which excluded executions."""
    source = "K: bytes = 0\ndef update(acked):\n    K = acked\ndef send(K, MSS):\n    return K + MSS\n"
    nothing = {"what": "S[0] < 0"}
    asked = queries.make("two_flows_own_jitter", "infinite", 4, property="avoids", thresholds=nothing)
    with pytest.raises(InputError, match="the state `K` has the name of a column of the trace, K1; expected"):
        judged(asked.read_controller(source), asked)
    asked = queries.make("two_flows", "infinite", 4, property="avoids", thresholds=nothing)
    assert judged(asked.read_controller(source), asked).verdict == HOLDS


@pytest.mark.parametrize("name", ["Q_1", "F_12", "limited", "next_window", "older", "older2", "delay_test_3"])
def test_a_condition_with_the_name_of_other_unknowns_is_refused(name):
    """Regression: a condition Q_1 that was always false forbade any delay of the bytes served by step 1."""
    source = (
        f"window: bytes = above(0)\n{name}: condition = False\n\n"
        f"def update(window, delay, measured, step, {name}, MSS):\n"
        f"    window = 100 * MSS if measured and delay > step else MSS\n    {name} = False\n\n"
        "def send(window):\n    return window\n"
    )
    asked = queries.make(
        "ccac_windows", "infinite", 6, property="avoids", thresholds={"what": "c_f[0][T-1] > 50 * alpha"}
    )
    assert judged(asked.read_controller(source.replace(name, "other")), asked).verdict == VIOLATED
    with pytest.raises(InputError, match=f"the state `{name}` has the name of unknowns of the network; expected"):
        judged(asked.read_controller(source), asked)


def test_a_name_that_only_becomes_that_of_other_unknowns_is_refused():
    """Unknowns of several flows have the number of their flow, so the condition of flow 1 has the name Q_1."""
    source = "Q_: condition = False\ndef update(Q_):\n    Q_ = False\ndef send(MSS):\n    return MSS\n"
    asked = queries.make("two_flows", "infinite", 4, property="avoids", thresholds={"what": "S[0] < 0"})
    with pytest.raises(InputError, match="the state `Q_` has the name of unknowns of the network"):
        judged(asked.read_controller(source), asked)


def test_the_next_window_has_conditions_of_its_own():
    """Regression: its conditions had the unknowns of the window before."""
    asked = query()
    controller = asked.controller("aimd")
    x = asked.execution(state=controller.state)
    after = following(asked.model, x)
    for memory in controller.state:
        [own], [others] = ([flow.state[memory.name] for flow in each.flows] for each in (x, after))
        assert unknowns(own[-1:]) == unknowns(others[:1])
        assert len(unknowns(others[1:])) == len(others) - 1 and not unknowns(own) & unknowns(others[1:])


def unknowns(terms):
    nodes = [node for term in terms for node in linear(term).coefficients]
    return {unknown.symbol_name() for node in nodes for unknown in node.get_free_variables()}
