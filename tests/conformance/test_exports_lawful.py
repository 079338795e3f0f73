"""Whatever replay accepts is exported, or refused for a reason of the format; the exported link is lawful and does as
the trace. The traces are counterexamples of the solver and random executions; the links are those of tests/support."""

import json
from fractions import Fraction
from random import Random

import pytest

import ccmatic as cm
from ccmatic.answers.verification import replay
from ccmatic.base import InputError
from ccmatic.networks.trace_export import Scale, Schedule, export
from support import ROOT, fluid
from support.exported_links import check_holds, check_link
from support.links import Flow, check_mahimahi, total
from support.sampling import each_nth

#: 50 packets a step.
SCALE = Scale(Fraction(30_000 * 25), Fraction(1, 25), 600)

ONE_FLOW = ("ccac2021", "ccac2021_non_composing", "ccac_windows", "cbr_delay_windows", "ideal_windows")
MODELS = (*ONE_FLOW, "smooth_windows", "two_flows", "two_flows_constant_rate", "ccac2021_two_flows")
CONTROLLERS = ("anyone", "aimd", "reno", "vegas", "constant_window", "copa_stalls", "lp")

#: What random conditions are made of: at a step t, with a number q. The first is in all of them.
LOSS = "L[{t}] - L[{t}-1] > {q}"
CONDITIONS = (
    "L[{t}] - L[{t}-1] > 4 * {q}",
    "A[{t}] - L[{t}] - (A[{t}-1] - L[{t}-1]) < {q}",
    "A[{t}] - L[{t}] < S[{t}] + {q}",
    "S[{t}] - S[{t}-1] < {q}",
    "A[{t}] == A[{t}-1]",
    "A[0] - L[0] - S[0] > {q}",
)
SMALL = "alpha < 1/10; L[0] < 2; A[0] - L[0] - S[0] < 2; A[-1] - A[0] < 9"

#: In step 2 all that comes is lost, though half of the buffer is free. A byte of flow 2 leaves before an earlier one of
#: flow 1.
LOSES_ALL = "L[2] > L[1], A[2] - L[2] == A[1] - L[1], A[1] - L[1] < S[1] + 1/2"
OVERTAKES = "A_f[0][1] - L_f[0][1] > S_f[0][2], A_f[1][1] - L_f[1][1] < S_f[1][2]"

#: Random conditions of flows with jitter of their own that repeat themselves.
HELD = (
    "K1[-2] - S_f[0][-2] > 1/2",
    "K2[-2] - S_f[1][-2] > 3/4",
    "S_f[0][-1] - S_f[0][-2] < 1/8",
    "S_f[1][-1] - S_f[1][0] < S_f[0][-1] - S_f[0][0]",
    "W[-1] > W[-2]",
    "K1[-1] == K1[-2]",
)


def found(model, what, controller="anyone", buffer="1", horizon=5, **settings):
    """Return a trace of the solver; None if none exists."""
    network = cm.Network(model, buffer, horizon, delay="executions", **settings)
    try:
        return cm.verify(controller, cm.Query(network, "avoids", what=what, given=SMALL)).trace
    except InputError as error:
        assert "has no execution" in str(error)
        return None


def at_random(random, model):
    """Return a trace of the solver with losses that satisfies two random conditions; None if none exists."""
    horizon = random.randint(4, 5)
    texts = (LOSS, *random.sample(CONDITIONS, 2))
    drawn = ({"t": random.randint(1, horizon - 1), "q": random.choice(("1/8", "1/3", "1/2", "1"))} for _ in texts)
    what = ", ".join(text.format(**each) for text, each in zip(texts, drawn, strict=True))
    controller = random.choice(CONTROLLERS) if model in ONE_FLOW else "anyone"
    return found(model, f"And({what})", controller, random.choice(("1/4", "1/2", "1", "2")), horizon)


def check(trace, scale=SCALE):
    """That replay accepts a trace, and its exports are lawful. Returns how many packets were lost."""
    assert replay(trace, allow_code=True).faults == ()
    arrays = json.loads(export(trace, "json", scale, allow_code=True)[0])["arrays"]
    for name, column in (("sent_bytes", "A"), ("served_bytes", "S"), ("lost_bytes", "L")):
        grown, exact = total(trace, column)[-1] - total(trace, column)[0], list(map(Fraction, arrays[name]["exact"]))
        assert exact[-1] - exact[0] == grown * scale.bdp / trace.constants["R_m"]
    L = total(trace, "L")
    steps = sum(1 for t in range(1, trace.horizon) if L[t] > L[t - 1])
    check_mahimahi(trace, scale, few=2 + 2 * steps)
    return check_link(trace, scale)[1]


def check_found(model, count):
    """Check those of the random traces of a model that exist. Returns their number."""
    random, checked = Random(model), 0
    for trace in (at_random(random, model) for _ in range(count)):
        if trace is None:
            continue
        try:
            assert check(trace) > 0
        except InputError as error:
            assert model == "ccac2021_two_flows" and "first in, first out" in str(error)
        checked += 1
    return checked


@pytest.mark.parametrize("model", each_nth(3, MODELS))
def test_what_the_solver_finds_is_exported(model):
    assert check_found(model, 3)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_many_of_what_the_solver_finds_are_exported(model):
    assert check_found(model, 100) >= 30


def check_executions(seeds):
    """Random executions at random scales. Returns in how many of them packets are lost."""
    lossy = 0
    for seed in seeds:
        random = Random(seed)
        model, jitter = random.choice(("ccac_windows", "cbr_delay_windows")), random.choice((1, 1, 2))
        buffer = random.choice(("1/4", "1/2", "1", "2"))
        trace = fluid.execution(random, model, buffer, random.randint(jitter + 2, 7), jitter)
        rtt = Fraction(1, random.choice((23, 25, 40)))
        lossy += check(trace, Scale(random.randint(40, 60) * 600 / rtt, rtt, 600)) > 0
    return lossy


def test_random_executions_are_exported():
    assert check_executions(range(12)) > 4


@pytest.mark.slow
def test_many_random_executions_are_exported():
    assert check_executions(range(40, 3000)) > 2000


def check_held(seeds):
    """Random traces of flows with jitter of their own that repeat themselves. Returns how many there are."""
    checked = 0
    for seed in seeds:
        random = Random(seed)
        period, jitter = random.randint(1, 2), random.choice((1, 1, 2))
        network = cm.Network("two_flows_own_jitter", random.choice(("infinite", "1")), 6, jitter, "executions")
        what = f"And({', '.join(random.sample(HELD, 2))})"
        given = "alpha < 1/10; A[0] - L[0] - S[0] < 3; L[0] < 1"
        controller = random.choice(("anyone", "constant_window", "vegas"))
        asked = cm.Query(network, "avoids", what=what, given=given, repeats=period)
        trace = cm.verify(controller, asked).trace
        if trace is not None:
            assert replay(trace).faults == ()
            check_holds(trace, SCALE, random)
            checked += 1
    return checked


def test_what_repeats_itself_is_held():
    assert check_held(range(2)) >= 1


@pytest.mark.parametrize("name", ["copa", "copa_exported_100", "copa_exported_400", "vegas", "vegas_400"])
def test_starvation_is_held(name):
    check_holds(cm.Trace.load(ROOT / "results" / "gallery" / "starvation" / f"{name}.json"), SCALE, Random(name))


@pytest.mark.slow
def test_much_of_what_repeats_itself_is_held():
    assert check_held(range(2, 100)) >= 40


@pytest.mark.slow
def test_a_worst_trace_with_losses_becomes_a_link():
    """State that is called K is no column of tokens; a loss needs a buffer that is full at some time in its step."""
    network = cm.Network("ideal_windows", "1/2", 5, delay="executions")
    cubic = (ROOT / "examples" / "controllers" / "cubic.py").read_text("utf-8").replace("until_max", "K")
    trace = cm.worst(cubic, network, "loss", at="2", given=SMALL).trace
    assert "K" in trace.columns and check(trace) > 100


def test_a_buffer_that_is_not_full_at_the_end_of_a_step_was_full_before():
    trace = found("ccac2021", "And(L[4] > L[3], A[4] - L[4] < 5 - W[4])", "vegas")
    assert trace is not None and check(trace) > 0


def test_tokens_that_are_wasted_after_they_came_are_left_out(tmp_path):
    trace = found("ccac2021", "And(W[2] - W[1] > 3/2, L[3] > L[2])", jitter=2)
    came = [t - wasted for t, wasted in enumerate(trace.columns["W"])]
    assert came[2] < came[1] and check(trace) > 0
    (tmp_path / "schedule.csv").write_bytes(export(trace, "schedule", SCALE)[0])
    admitted = [point[1] for point in Schedule.load(tmp_path / "schedule.csv").points]
    assert admitted[1] == int(came[2] * SCALE.bdp) == admitted[2]


def test_steps_may_be_shorter_than_R_m(tmp_path):
    """A step was taken for R_m in the times of all formats."""
    file = tmp_path / "two_steps.py"
    file.write_text("from ccmatic.models.ccac2021 import CCAC2021\n\nMODEL = CCAC2021(R=2)\n")
    trace = found(str(file), "And(L[2] > L[1], S[4] - S[1] > 2)", horizon=6)
    assert check(trace) > 0 and Flow(trace, SCALE).ends[-1] == 5 * SCALE.rtt / 2
    exact = json.loads(export(trace, "json", SCALE, allow_code=True)[0])["arrays"]["time_s"]["exact"]
    assert [Fraction(at) for at in exact] == Flow(trace, SCALE).ends


@pytest.mark.parametrize(
    "model, controller, what, reason",
    [
        ("varying", "always_double", f"And({LOSES_ALL})", "though the buffer has room at all times in the step .* t=2"),
        ("two_flows_own_jitter", "anyone", f"And({OVERTAKES})", "is first in, first out"),
        ("./any_queue.py", "anyone", "A[1] - L[1] > 2 + 2 - W[1]", "more waits than the buffer holds at t=1"),
    ],
    ids=["loss", "order", "queue"],
)
def test_what_a_link_with_a_buffer_cannot_do_is_a_reason(model, controller, what, reason, tmp_path, monkeypatch):
    """The arrays have such traces."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "any_queue.py").write_text(
        'from ccmatic.models.ccac2021 import CCAC2021\n\nMODEL = CCAC2021(most_queue="any")\n'
    )
    trace = found(model, what, controller)
    assert replay(trace, allow_code=True).faults == ()
    for kind in ("schedule", "mahimahi"):
        with pytest.raises(InputError, match=reason):
            export(trace, kind, SCALE, allow_code=True)
    arrays = json.loads(export(trace, "json", SCALE, allow_code=True)[0])["arrays"]
    assert Fraction(arrays["served_bytes"]["exact"][-1]) == (total(trace, "S")[-1] - total(trace, "S")[0]) * SCALE.bdp
