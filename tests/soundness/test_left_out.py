"""Exclusions of a question: each is declared, printed and in the JSON, and none is silent."""

import json
from itertools import product

import pytest

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.contracts import EXCLUSIONS, Exclusion
from ccmatic.logic import isolated
from ccmatic.proving.prover import Prover
from ccmatic.questions.query import left_out
from support.cli import run

#: It stops for ever at the first step in which nothing is acknowledged: its rate is then below 0.
STOPS = """
window: bytes = above(0)
pace: rate = above(0)

def update(window, pace, measured, MSS, R_m):
    window = 10 * MSS
    pace = pace if measured and pace > 0 else 0 - MSS / R_m

def send(window, pace):
    return window, pace
"""

#: It keeps four packets in flight while the delay is at most two steps, and else none.
STALLS = """
window: bytes = above(0)

def update(window, delay, MSS, step):
    if delay <= 2 * step:
        window = 4 * MSS
    elif delay > 2 * step:
        window = 0

def send(window):
    return window
"""


def asked(model, horizon=6, what="S[T-1] == S[0]", **more):
    return cm.Query(cm.Network(model, "infinite", horizon), "avoids", what=what, **more)


def names(query, controller):
    return [each.name for each in isolated(left_out)(query, query.controller(controller))]


@pytest.mark.parametrize("model", ["ccac2021", "ccac2021_anywhere_non_composing", "ccac_windows", "cbr_delay_windows"])
def test_a_sender_whose_rate_falls_below_0_sends_nothing(model):
    query = asked(model, what="ANYT(2, T, lambda t: r_f[0][t] < 0)")
    assert cm.verify(STOPS, query).verdict == "violated"


def test_a_rate_below_0_sends_nothing_for_ever():
    query = asked("ccac_windows", what="A[T-1] == A[1]", given="ALLT(2, T, lambda t: r_f[0][t] < 0)")
    assert cm.verify(STOPS, query).verdict == "violated"
    query = asked("ccac_windows", what="A[T-1] > A[1]", given="ALLT(2, T, lambda t: r_f[0][t] < 0)")
    assert cm.verify(STOPS, query).verdict == "holds"


COPA_STOPS = """
window: bytes = above(0)
pace: rate = anything()

def update(window, pace, measured, delay, MSS, R_m, D, step):
    least = max(0, delay - step)
    may_increase = measured and not window * least > MSS * (R_m + least)
    may_decrease = (measured and not window * delay[D] < MSS * (R_m + delay[D])) or not delay >= 0
    assume(may_increase or may_decrease)
    more = window + MSS * step / R_m
    less = max(MSS, window - MSS * step / R_m)
    pace = window / R_m if measured and pace > 0 else 0 - window / R_m
    if not may_decrease:
        window = more
    elif not may_increase:
        window = less
    else:
        window = any_of(more, less)

def send(window, pace):
    return window, pace
"""


@pytest.mark.slow
def test_copa_that_stops_without_acknowledgements_has_no_proof_that_it_uses_the_link():
    with pytest.raises(InputError, match="no values work for least, most, inflight"):
        cm.prove(COPA_STOPS, "copa_any_start")


def test_a_sender_knows_a_delay_that_is_longer_than_the_trace():
    """At four steps it could never know one of more than three."""
    query = asked("ccac_windows", 4, what="A[T-1] == A[1]", given="A[0] - L[0] - S[0] > 9 * C; c_f[0][1] < alpha")
    assert cm.verify(STALLS, query).verdict == "violated"
    assert cm.replay(cm.verify(STALLS, query).trace).outcome.value == "breaks"


@pytest.mark.parametrize("bound", ["2", "7", "70"])
def test_delays_are_compared_with_any_number(bound):
    """A delay may exceed the steps of a trace. Delays that a trace does not tell apart are left out."""
    query = asked("ccac_windows", 4, what="ANYT(1, T, lambda t: c_f[0][t] <= 0)")
    controller = STALLS.replace("2 * step", f"{bound} * step")
    verdict = cm.verify(controller, query)
    assert (verdict.verdict, "before the trace" in names(query, controller)) in [("violated", False), ("holds", True)]
    assert (verdict.verdict == "holds") == (bound == "70")


def test_delays_of_bytes_from_before_the_trace_that_a_network_does_not_tell_are_left_out():
    assert "before the trace" in names(asked("ccac2021"), STALLS)
    assert "before the trace" in names(asked("two_flows"), STALLS)
    assert "before the trace" not in names(asked("ccac_windows"), STALLS)
    assert "before the trace" not in names(asked("ccac2021"), "aimd")
    assert "before the trace" not in names(asked("ccac2021"), "copa_any_start")


def test_what_a_controller_assumes_is_told():
    query = asked("ccac_windows")
    found = isolated(left_out)(query, query.controller("cubic"))
    assert [each.name for each in found] == ["seconds", "assumptions", "first state"]
    (told,) = (each for each in found if each.name == "assumptions")
    assert "0 <= cube <= 64 * MSS" in told.reason


@isolated
def test_what_a_controller_assumes_is_told_of_a_proof():
    excluded = Prover("copa_any_start", "copa_any_start", 14).left_out
    assert [each.name for each in excluded] == ["published laws", "assumptions"]


@pytest.mark.slow
def test_what_a_controller_assumes_is_told_with_what_is_so_for_ever(tmp_path):
    proved = cm.prove("copa_any_start", "copa_any_start", tmp_path)
    assert [each.name for each in proved.left_out] == ["published laws", "assumptions"]
    assert "Left out: assumptions: copa_any_start assumes" in proved.file.with_suffix(".md").read_text()
    code, out, _ = run("check", proved.file)
    assert code == 0 and "left out: assumptions: copa_any_start assumes" in out


@pytest.mark.parametrize(
    "first, read, excluded",
    [
        ("window: bytes = between(5 * MSS, C_L)", "", False),
        ("window: bytes = above(0)", "C_L, ", True),
        ("window: bytes = between(5 * MSS, line_rate * R_m)", "", True),
        ("window: bytes = between(5 * MSS, 7 * MSS)", "", False),
    ],
)
def test_packets_with_which_a_controller_cannot_begin_are_left_out(first, read, excluded):
    controller = f"{first}\ndef update({read}MSS):\n    window = 2 * MSS\ndef send(window):\n    return window\n"
    if "between(5 * MSS, C_L)" in first:
        with pytest.raises(InputError):
            names(asked("ccac_windows"), controller)
    else:
        assert ("packets" in names(asked("ccac_windows"), controller)) == excluded


def test_packets_are_left_out_once():
    controller = (
        "window: bytes = above(0)\ndef update(C_L, MSS):\n    window = 2 * MSS\ndef send(window):\n    return window\n"
    )
    small = asked("ccac_windows").of_small_packets()
    assert [
        each.reason for each in isolated(left_out)(small, small.controller(controller)) if each.name == "packets"
    ] == ["MSS is C·R_m/5 or more"]


def test_what_a_controller_begins_with_is_told_unless_it_may_be_anything():
    assert "first state" in names(asked("ccac_windows"), "reno")
    anything = "window: bytes = anything()\ndef update(MSS):\n    window = MSS\ndef send(window):\n    return window\n"
    assert names(asked("ccac_windows"), anything) == []


def test_published_laws_are_told_where_executions_break_them():
    assert "published laws" in names(asked("ccac2021"), "aimd")
    assert "published laws" not in names(asked("ccac_windows"), "aimd")


#: Its window is a packet where a second is R_m.
READS_SECOND = """
window: bytes = above(0)
def update(window, MSS, R_m, second):
    window = bounded(MSS * second / R_m, MSS, MSS)
def send(window):
    return window
"""
TAKEN_AS_R_M = "left out: seconds: the second that {} reads is taken as R_m"


@pytest.mark.parametrize(
    "command, expect, code",
    [
        ("verify", "loss <= 1%", 0),
        ("verify", "utilisation >= 90%", 1),
        ("worst", "loss <= 1%", 0),
        ("worst", "utilisation >= 90%", 1),
    ],
)
def test_answers_about_a_controller_that_reads_a_second_say_what_it_is(command, expect, code, tmp_path):
    """On this path a second is 25 R_m. A counterexample says so, too."""
    (tmp_path / "mine.py").write_text(READS_SECOND)
    about = ["--on", "24 mbit, rtt 40 ms, buffer 1 bdp", "--expect", expect, "--from", "any", "--horizon", "4"]
    about += ["--out", tmp_path]
    found, out, _ = run(command, tmp_path / "mine.py", *about)
    assert (found, TAKEN_AS_R_M.format("mine") in out) == (code, True), out
    found, out, _ = run(command, tmp_path / "mine.py", *about, "--json")
    assert "seconds" in [each["name"] for each in json.loads(out)["left_out"]]


@pytest.mark.slow
def test_starve_and_prove_say_what_a_second_is(tmp_path):
    (tmp_path / "mine.py").write_text(READS_SECOND)
    _, out, _ = run("starve", tmp_path / "mine.py", "--period", "1", "--out", tmp_path)
    assert TAKEN_AS_R_M.format("mine") in out
    _, out, _ = run("prove", tmp_path / "mine.py", "--horizon", "3", "--out", tmp_path)
    assert TAKEN_AS_R_M.format("mine") in out


def test_each_exclusion_is_declared_and_eight_are_the_most():
    assert len(EXCLUSIONS) <= 8
    with pytest.raises(InputError, match="expected one of late losses"):
        Exclusion("inconvenient", "it does not hold there")


def test_commands_tell_what_is_left_out_and_so_does_their_json(tmp_path):
    network = ["--model", "ccac2021", "--buffer", "1", "--horizon", "5", "--out", tmp_path]
    question = ["verify", "lp", *network, "--property", "avoids", "--threshold", "what=S[1] < S[0]"]
    code, out, _ = run(*question)
    assert code == 0 and "left out: first state: lp begins with window above 0" in out
    code, out, _ = run(*question, "--json")
    told = json.loads(out)["left_out"]
    excluded = ["published laws", "packets", "first state", "before the trace"]
    assert [each["name"] for each in told] == excluded
    code, out, _ = run("worst", "lp", *network, "--at", "1", "--json")
    assert [each["name"] for each in json.loads(out)["left_out"]] == excluded
    code, out, _ = run("synth", "g1_t4", "--out", tmp_path / "found", "--json")
    assert [each["name"] for each in json.loads(out.splitlines()[-1])["left_out"]] == ["packets", "published laws"]


DEEP = """
def rate(C_L, qdel_L, R_m):
    if qdel_L > {} * R_m:
        return C_L / 1000
    return 2 * C_L
"""


@pytest.mark.parametrize("least, told", [(3, False), (6, False), (7, True), (20, True)])
def test_values_of_a_belief_that_a_trace_does_not_tell_apart_are_left_out(least, told):
    """A trace of eight steps tells values of qdel_L up to seven."""
    query = cm.Query(cm.Network("ccac", "infinite", 8), "avoids", what="S[1] < S[0]")
    assert ("before the trace" in names(query, DEEP.format(least))) == told


@isolated
def faults(controller):
    prover = Prover("cc_qdel", controller, 5)
    return prover.faults({constant.name: constant.high for constant in prover.proof.constants})


def test_nothing_is_proved_of_a_controller_that_tells_apart_what_windows_do_not():
    (fault,) = faults(DEEP.format(9))
    assert fault == "controller distinguishes values of qdel_L above 4, and windows of 5 steps do not"
    assert faults(DEEP.format(3)) == []


IDLE = "window: bytes = 0\ndef update(MSS):\n    window = 0\ndef send(window):\n    return window\n"


@pytest.mark.parametrize("model, told", [("ccac2021_two_flows", True), ("two_flows", False)])
def test_a_flow_that_is_idle_while_another_is_served_is_left_out_of_the_published_network(model, told):
    query = asked(model, what="S[T-1] > S[1]", given="A_f[0][1] == S_f[0][1]; L[0] == 0")
    several = [IDLE, cm.load_controller("constant_window", query).source]
    found = isolated(left_out)(query, query.controller(several))
    assert any("a flow sends nothing" in each.reason for each in found) == told
    if not told:
        assert cm.verify(several, query).verdict == "violated"


def test_samples_of_bytes_from_before_the_trace_are_left_out():
    found = isolated(left_out)(asked("ccac_windows"), asked("ccac_windows").controller("cc_qdel_sender"))
    assert any(each.name == "before the trace" and each.reason.startswith("C_L of") for each in found)


SKETCH = '''
from ccmatic.contracts import Sketch

TEMPLATE = Sketch(
    """
    pace: rate = above(0)


    def update(pace, measured, MSS, R_m):
        pace = MSS / R_m if measured else slow * MSS / R_m


    def send(pace):
        return pace
    """,
    {"slow": (-1, 1)},
)
'''


def test_synthesis_does_not_select_a_controller_that_stops_at_a_rate_below_0(tmp_path):
    (tmp_path / "slow.py").write_text(SKETCH)
    network = cm.Network("ccac_windows", "infinite", 5)
    query = cm.Query(network, "avoids", template=str(tmp_path / "slow.py"), what="r_f[0][3] < 0")
    (found,) = cm.synthesise(query).solutions
    assert "slow = 1\n" in found.source


@pytest.mark.parametrize(
    "buffer, jitter, controller, told",
    [
        ("3", 2, "cc_qdel", False),
        ("3", 2, "always_c_u", True),
        (">=2", 3, "always_c_u", True),
        ("any", 2, "midpoint", True),
        ("infinite", 2, "always_c_u", False),
        ("3", 1, "always_c_u", False),
        ("1/4", 0, "always_c_u", True),
        ("infinite", 0, "always_c_u", False),
    ],
)
def test_a_published_upper_bound_that_can_turn_false_is_told(buffer, jitter, controller, told):
    query = cm.Query(cm.Network("ccac", buffer, 5, jitter=jitter), "avoids", what="S[1] < S[0]")
    found = isolated(left_out)(query, query.controller(controller))
    assert any("C_U" in each.reason for each in found if each.name == "first state") == told


@pytest.mark.parametrize("pauses", ["", ", application pauses"])
@pytest.mark.parametrize("buffer", ["1/4 bdp", "1 bdp", "infinite"])
@pytest.mark.parametrize("model, jitter", [("ideal", 0), *product(["ccac", "cbr_delay", "varying"], [0, 1, 2])])
def test_an_upper_bound_that_turns_false_is_told(model, buffer, jitter, pauses, tmp_path):
    """The solver turns C_U false at some rates only on networks of which the answers say so."""
    any_rate = tmp_path / "any_rate.py"
    any_rate.write_text("def rate(C_L, C_U):\n    return between(0, 3 * C_L + C_U)\n")
    network = f"{model}, buffer {buffer}, jitter {jitter} rtt{pauses}"
    told = cm.answer(cm.ask(any_rate, network, "C_L >= 0")).left_out
    if not any("C_U" in each.reason for each in told):
        assert cm.answer(cm.ask(any_rate, network, "C_U >= 100%")).verdict == "holds"


@pytest.mark.parametrize("model, told", [("two_flows", True), ("ccac_windows", False)])
def test_a_belief_that_is_false_beside_others_at_first_is_left_out(model, told):
    """C_U may turn false beside others, and a later window then begins with it."""
    source = "def send(C_U, R_m):\n    return C_U * R_m\n"
    found = isolated(left_out)(asked(model), asked(model).controller(source))
    assert any(each.name == "first state" and "is false at first" in each.reason for each in found) == told


FAR = """
from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Start, Timer

MODEL = CCAC2021(R=2, begins=Start.ANYWHERE, delay=DelayMeasurement.OPEN_AT_FIRST, timer=Timer.UNDETECTED_LOSS)
"""


def test_a_timer_may_fire_in_the_first_r_m(tmp_path):
    """For the loss of bytes sent before the trace, the window falls at step 1 of a trace whose R_m is two steps."""
    (tmp_path / "far.py").write_text(FAR)
    source = """
window: bytes = above(0)

def update(window, timeout, MSS):
    window = MSS if timeout else window

def send(window):
    return window
"""
    query = asked(str(tmp_path / "far.py"), what="c_f[0][1] < c_f[0][0]")
    assert cm.verify(source, query).verdict == "violated"


WAITS = """
window: bytes = above(0)

def update(window, time, delay, MSS, step):
    if time >= 4 * step and delay > 70 * step:
        window = 0
    else:
        window = 4 * MSS

def send(window):
    return window
"""


def test_delays_that_are_read_only_later_are_left_out_as_well():
    assert "before the trace" in names(asked("ccac_windows"), WAITS)
    assert "before the trace" in names(asked("ccac2021"), WAITS)
