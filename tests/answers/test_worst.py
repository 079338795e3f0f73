"""`worst`: edges with both sides asked, on models of windows and of beliefs, told, saved and replayed."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

import ccmatic as cm
from ccmatic.answers.verification import Executions, Outcome, check_trace
from ccmatic.base import last_good
from ccmatic.questions import query as queries
from support.cli import lines, run

SLOW = pytest.mark.slow
SMALL = {"resolution": "1/10"}


def network(model, buffer="infinite", horizon=6):
    return cm.Network(model, buffer, horizon, delay="executions")


def is_so(controller, asked, what, x, given=""):
    """Whether `verify` finds an execution that is so, asked anew."""
    verdict = cm.verify(controller, cm.Query(asked, "avoids", what=what, x=x, given=given)).verdict
    return {"violated": True, "holds": False}[verdict]


@pytest.mark.parametrize("count", range(1, 12))
def test_both_sides_of_an_edge_are_asked(count):
    for edge in range(-1, count):
        asked = []
        found = last_good(count, lambda index, edge=edge, asked=asked: asked.append(index) or index <= edge)
        assert found == edge and {edge, edge + 1} & {*range(count)} <= {*asked} and len(asked) == len({*asked})


@pytest.mark.parametrize(
    "controller, model, buffer, of, given, edge",
    [
        pytest.param("constant_window", "ccac2021", "infinite", "queue", "alpha == 1", ("1", "9/10"), marks=SLOW),
        ("cc_qdel", "ccac", "1", "delay", "", ("2", "1")),
        pytest.param("cc_probe_slow", "cbr_delay", "1", "loss", "", ("2/5", "3/10"), marks=SLOW),
    ],
)
def test_what_is_found_is_what_verify_says(controller, model, buffer, of, given, edge):
    asked = network(model, buffer)
    step = {} if of == "delay" else SMALL
    worst = cm.worst(controller, asked, of, start="empty" if given else "any", given=given, **step)
    assert (worst.verdict, worst.none, worst.some) == ("found", *map(Fraction, edge))
    assert worst.report.outcome is Outcome.BREAKS and cm.replay(worst.trace).outcome is Outcome.BREAKS
    given = worst.trace.query["property"]["given"]
    assert not is_so(controller, asked, worst.quantity.what, worst.none, given)
    assert is_so(controller, asked, worst.quantity.what, worst.some, given)


@cache
def low_for_ever():
    """Copa, composing: as low as that for ever."""
    return cm.worst("copa", network("ccac2021", horizon=13), period=6, at="1/10")


@cache
def bbr_for_ever():
    return cm.worst("bbr", network("ccac2021", "1", 9), "loss", period=4, at="2")


@cache
def aimd_for_ever():
    """With packets so large that the window halves and grows back within four steps."""
    return cm.worst("aimd", network("ccac2021", "1", 9), "queue", period=4, given="alpha < 1", at="1")


@cache
def probe_for_ever():
    return cm.worst("cc_probe_slow", network("cbr_delay", "1", 9), period=4, at="7/10")


#: A rate that depends on C_L, which the samples of many periods move most.
BY_SAMPLES = """\
def rate(C_L, C_U, MSS, R_m):
    if C_L > 3 * MSS / R_m:
        return 3 * C_U + 2 * MSS / R_m
    return C_U / 4 + MSS / R_m
"""


@cache
def samples_for_ever():
    return cm.worst(BY_SAMPLES, network("ccac"), "queue", period=2, resolution="1/20")


@cache
def vegas_for_ever():
    """A queue that Vegas keeps: its delay has to be known, not unknown for as long as the trace is."""
    return cm.worst("vegas", network("ccac2021", horizon=9), "queue", period=4, given="alpha < 1/4", at="3")


def unrolled(trace, period, times=6):
    """Return the trace extended by repetitions of its last period."""
    end, columns = trace.horizon - 1, {}
    for name, column in trace.columns.items():
        longer, grown = list(column), column[end] - column[end - period]
        for t in range(trace.horizon, trace.horizon + times * period):
            longer.append(longer[t - period] + grown)
        columns[name] = longer
    if "cwnd" in columns:
        columns["Q"] = delays(columns)
    asked = queries.from_record(trace.query)
    asked = asked.on(horizon=trace.horizon + times * period)
    columns = {name: tuple(column) for name, column in columns.items()}
    return asked, replace(trace, horizon=asked.horizon, columns=columns, query=asked.record())


def delays(columns):
    """Yield for ccac2021 the whole steps of delay of the served bytes; the horizon stands for unknown."""
    S, admitted = columns["S"], [sent - lost for sent, lost in zip(columns["A"], columns["L"], strict=True)]
    found = [len(S)]
    for t in range(1, len(S)):
        waited = next((k for k in range(t) if S[t] > admitted[t - k - 1]), len(S))
        found.append(found[-1] if S[t] == S[t - 1] else waited)
    return list(map(Fraction, found))


SLOWER = [
    pytest.param(*each, marks=SLOW)
    for each in ((low_for_ever, 6), (bbr_for_ever, 4), (aimd_for_ever, 4), (vegas_for_ever, 4))
]


@pytest.mark.parametrize("found, period", [*SLOWER, (probe_for_ever, 4), (samples_for_ever, 2)])
def test_what_repeats_goes_on(found, period):
    trace = found().trace
    report = check_trace(*unrolled(trace, period))
    assert not report.faults and report.outcome is Outcome.BREAKS


def test_a_utilisation_for_ever_is_that_of_a_period():
    """Five steps with a period of two: of a link that is always busy, jitter held the bytes of a step back."""
    source = "def rate(C_L, qdel_L, R_m):\n    return C_L / 4 if qdel_L > R_m else 2 * C_L\n"
    worst = cm.worst(source, network("cbr_delay", "1"), period=2, **SMALL)
    assert worst.none == 1 and worst.trace is None


def test_a_burst_of_losses_by_chance_does_not_recur_in_each_period():
    lost = "L[-1] - L[begin] > x * (A[-1] - A[begin])"
    worst = cm.worst(
        "def rate(C_L):\n    return C_L / 2\n", network("lossy:loss_rate=1/100", "2"), lost, period=1, **SMALL
    )
    assert worst.none <= Fraction(1, 10)


@pytest.mark.parametrize("found, period", [*SLOWER, (probe_for_ever, 4)])
def test_no_state_is_forgotten_where_the_end_is_compared_with_the_start(found, period):
    trace = found().trace
    asked = queries.from_record(trace.query)
    (way,) = asked.property.ways_to_fail(asked.model, asked.buffer)

    def is_so(columns):
        now = trace.with_columns(**columns)
        return way.formula(asked.observed(now, asked.units().keys() & columns.keys(), state))

    state = asked.read_controller(trace.controller).state
    assert is_so(trace.columns) is True
    follows = "Q" if asked.model.windows else "Ld"  # of bytes; of bytes lost a step before
    for name, column in trace.columns.items():
        changed = {name: (*column[:-1], column[-1] + 1)}
        if name in {memory.name for memory in state}:  # the controller's own laws compare it
            assert check_trace(asked, trace.with_columns(**changed)).faults, name
        elif name != follows:
            assert is_so({**trace.columns, **changed}) is False, name


@pytest.mark.slow
def test_it_can_be_put_without_a_controller():
    queries.from_record(aimd_for_ever().trace.query).encode()


@pytest.mark.parametrize("at, asked", [("1", [1]), ("3", [1, 0])])
def test_whether_there_is_an_execution_is_asked_where_none_is_so(monkeypatch, at, asked):
    """By how many conditions each question has beside what is given."""
    questions, find = [], Executions.find
    monkeypatch.setattr(Executions, "find", lambda self, *more: questions.append(len(more)) or find(self, *more))
    worst = cm.worst("cc_qdel", network("ccac", "1"), "delay", at=at)
    assert (worst.some is not None) is (at == "1") and questions == asked


@pytest.mark.parametrize("period", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_period_that_no_execution_has_is_refused(period):
    """Copa's window moves a packet up or down in each step, so that an odd period brings it back only at its floor."""
    with pytest.raises(cm.InputError, match=f"no execution of copa that repeats itself every {period} steps? and has"):
        cm.worst("copa", network("ccac2021", horizon=2 * period + 1), given="alpha < 1/4", period=period)


TOGGLE = """window: bytes = above(0)
big: condition = False


def update(window, big, MSS):
    big = not big
    if big:
        window = 3 * MSS
    else:
        window = MSS


def send(window):
    return window
"""


def test_windows_of_executions_that_repeat_are_those_of_the_last_period(tmp_path):
    """The window is 3 packets and 1 packet in turn. Only before the first decision may it be anything."""
    (tmp_path / "toggle.py").write_text(TOGGLE)
    asked = ["toggle.py", "--on", "24 mbit, rtt 40 ms, buffer 1 bdp", "--period", "2"]
    for expectation, code in {
        "window <= 3 packets": 0,
        "window <= 2 packets": 1,
        "window >= 1 packets": 0,
        "growth <= 2 packets": 0,
        "growth <= 1 packets": 1,
    }.items():
        assert run("verify", *asked, "--expect", expectation, cwd=tmp_path)[0] == code, expectation
    _, out, _ = run("worst", *asked, "--expect", "window <= 3 packets", "--resolution", "1", cwd=tmp_path)
    assert "never above 3, sometimes above 2" in out


def test_what_was_not_is_decided_is_unknown(tmp_path):
    asked = ["--model", "ccac2021", "--buffer", "1", "--horizon", "30", "--timeout", "0.2"]
    code, out, _ = run("worst", "aimd", *asked, "--json", cwd=tmp_path)
    (line,) = lines(out)
    assert code == 3 and line["verdict"] == "unknown" and line["none"] is None


def test_one_x_is_asked_about_and_its_trace_saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ["worst", "cc_qdel", "--of", "delay", "--model", "ccac", "--buffer", "1", "--horizon", "5"]
    code, out, _ = run(*asked, "--at", "2")
    assert code == 0 and "delay: never above 2 steps to be served" in out and not list(tmp_path.iterdir())
    code, out, _ = run(*asked, "--at", "1")
    assert code == 1 and "delay: above 1 step to be served" in out
    (file,) = tmp_path.glob("ccmatic-traces/cc_qdel-ccac-T5-delay-*.json")
    assert run("replay", file)[0] == 0


@pytest.mark.parametrize(
    "more, message",
    [
        ({"of": "utilization"}, "did you mean 'utilisation'"),
        ({"of": "S[-1] < x *"}, "is no expression"),
        ({"of": "window"}, "found 'c_f'"),
        ({"start": "emty"}, "did you mean 'empty'"),
        ({"period": 3}, "do not show a period of 3 twice; expected a horizon of 7 at least"),
        ({"low": 2}, "the range of x is 2 to 1"),
        ({"at": -1}, "the range of x is -1 to -1"),
        ({"at": "a"}, "found 'a'; expected an exact number"),
        ({"resolution": 0}, "in steps of 0"),
        ({"resolution": "1/10000000"}, "at most 1000000 steps"),
        ({"given": "S[0] > 0"}, "no execution of cc_qdel that has S"),
    ],
)
def test_bad_input_is_told(more, message):
    with pytest.raises(cm.InputError, match=message):
        cm.worst("cc_qdel", network("ccac", horizon=5), **more)


def test_steps_count_from_the_end_only_where_that_is_written():
    """`S[t-1]` at the first step is refused, which Python would take for the last."""
    asked = cm.Query(network("ccac", horizon=5), "avoids", what="S[-1] > 100")
    assert cm.verify("cc_qdel", asked).holds
    asked = cm.Query(network("ccac", horizon=5), "avoids", what="ALLT(0, T, lambda t: S[t-1] > 100)")
    with pytest.raises(cm.InputError, match="a step or a flow that there is, from 0 to .*; it is -1"):
        cm.verify("cc_qdel", asked)


def test_a_condition_without_x_is_asked_about_once():
    asked = []
    worst = cm.worst("cc_qdel", network("ccac", "1", 5), "S[-1] - S[0] < 1/100 * C * (T-1)", told=asked.append)
    assert asked == [0] and worst.none is None and worst.report.outcome is Outcome.BREAKS
    assert "there is such an execution" in repr(worst) and "<table>" in worst._repr_html_()


#: A window of twelve packets of C·R_m each, of which the last one waits for eleven steps, and with jitter for twelve.
LATE = "def send(line_rate, R_m):\n    return line_rate * R_m * 12 / 100\n"


@pytest.mark.parametrize(
    "horizon", [*range(3, 20, 4), *(pytest.param(horizon, marks=pytest.mark.slow) for horizon in (23, 27))]
)
def test_no_horizon_says_of_a_delay_that_it_is_shorter_than_bytes_take(horizon):
    """From an empty start. The bytes asked about are the same for every x."""
    found = cm.worst(LATE, network("cbr_delay_windows", horizon=horizon), "delay", start="empty")
    half = (horizon - 1) // 2
    assert found.quantity.what.startswith(f"ANYT(0, T-{half},") and f"by step {horizon - 1 - half}" in found.sentence()
    assert (found.none, found.some) == ((None, half) if half < 12 else (12, 11))


def test_a_delay_longer_than_the_trace_is_not_asked_about():
    for horizon, more in ((5, {"at": 5}), (5, {"high": 9})):
        with pytest.raises(cm.InputError, match="up to . steps, and a trace of 5 steps shows at most 4"):
            cm.worst(LATE, network("cbr_delay_windows", horizon=horizon), "delay", **more)


def test_a_window_is_of_any_flow_and_a_loss_of_a_whole_R_m(tmp_path):
    small = "def send(MSS):\n    return MSS\n"
    asked = network("two_flows", horizon=4)
    assert cm.worst([small, LATE], asked, "window", at=11, given="alpha == 1/4").some == 11
    file = tmp_path / "slow.py"
    file.write_text("from ccmatic.models.ccac2021 import CCAC2021\n\nMODEL = CCAC2021(R=4)\n")
    with pytest.raises(cm.InputError, match="concerns one R_m, which is 4 steps, and a trace of 4 steps shows 3"):
        cm.worst(LATE, network(str(file), "1", 4), "loss")


@pytest.mark.parametrize("what", ["S[-1] < S[0]", "And(S[-1] < S[0], x > 1/2)"])
def test_of_a_condition_that_is_never_true_no_x_is_told(what, tmp_path):
    asked = ["worst", "vegas", "--model", "ideal_windows", "--buffer", "infinite", "--horizon", "4", "--of", what]
    code, out, _ = run(*asked, "--json", cwd=tmp_path)
    (line,) = lines(out)
    assert code == 0 and line["never"] is True and line["none"] is line["some"] is None


@pytest.mark.slow
def test_a_queue_whose_delay_stays_unknown_is_none_for_ever():
    assert cm.worst("vegas", network("ccac2021", horizon=9), "queue", period=4, given="alpha < 1/4", at="8").none == 8


def test_a_condition_that_may_turn_true_and_false_again_is_told_of_what_was_asked():
    """A condition that is false at both ends need not be false in between."""
    what = "And(S[-1] >= S[0], 2*x > 1, 2*x < 3)"
    found = cm.worst("vegas", network("ideal_windows", horizon=4), what, low=0, high=2, resolution=1)
    assert found.some is None
    assert found.sentence() == "no such execution with x = 0, nor with any other x that was decided"
