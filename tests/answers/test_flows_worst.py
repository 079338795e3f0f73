"""Several flows on a path: each with a controller, an R_m and observations of its own; shares, and Jain's index."""

from dataclasses import replace
from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.answers.verification import Outcome, check_trace
from ccmatic.questions import query as queries
from support.cli import lines, run

PUBLISHED, OWN = "ccac2021_two_flows", "two_flows"


def network(model=OWN, buffer="infinite", horizon=4):
    return cm.Network(model, buffer, horizon, delay="executions")


@pytest.fixture
def model(tmp_path):
    """Writes a model's file."""

    def write(chosen):
        file = tmp_path / "flows.py"
        file.write_text(f"from ccmatic.models.ccac2021 import *\n\nMODEL = CCAC2021({chosen})\n")
        return str(file)

    return write


@pytest.fixture(scope="module")
def unlike():
    """A constant window, beside AIMD."""
    given = "alpha == 1; ALLT(0, 2, lambda t: window_f[1][t] == 1)"
    return cm.worst(["constant_window", "aimd"], network(), "share", start="empty", given=given, resolution="1/10")


@pytest.mark.parametrize("name", [PUBLISHED, OWN])
def test_both_sides_of_a_share_are_as_verify_says(name):
    """For two windows from an empty start. CCAC's recorded edge is a ratio of 3/10 … 7/20."""
    asked = network(name)
    worst = cm.worst("constant_window", asked, "share", start="empty", given="alpha == 1", resolution="1/100")
    assert Fraction(3, 13) - Fraction(1, 100) <= worst.none < worst.some <= Fraction(7, 27) + Fraction(1, 100)
    given = worst.trace.query["property"]["given"]
    for x, verdict in ((worst.none, "holds"), (worst.some, "violated")):
        query = cm.Query(asked, "avoids", what=worst.quantity.what, x=x, given=given)
        assert cm.verify("constant_window", query).verdict == verdict


def test_each_flow_has_a_controller_of_its_own(unlike):
    trace, asked = unlike.trace, queries.from_record(unlike.trace.query)
    assert unlike.report.outcome is Outcome.BREAKS and cm.replay(trace).outcome is Outcome.BREAKS
    assert unlike.controller.name == "constant_window+aimd"
    assert {"window2", "recover2"} <= trace.columns.keys() and "window1" not in trace.columns
    faster = trace.with_columns(cwnd1=tuple(2 * window for window in trace.columns["cwnd1"]))
    assert any("window_is_the_controllers" in fault for fault in check_trace(asked, faster).faults)
    with pytest.raises(cm.InputError, match="the trace has no window1"):
        check_trace(asked, replace(trace, controller=unlike.controller.each[1].source))


def test_one_text_has_them_all(unlike):
    asked = queries.from_record(unlike.trace.query)
    again = asked.read_controller(unlike.trace.controller)
    assert again.meaning == unlike.controller.meaning and again.source == unlike.trace.controller
    wrong = unlike.trace.controller.replace("return MSS", "return MSS * R_m")
    with pytest.raises(cm.InputError) as error:
        asked.read_controller(wrong)
    assert error.value.line == 1 + wrong[: wrong.index("MSS * R_m")].count("\n")
    with pytest.raises(cm.InputError, match="not numbered from 1"):
        asked.read_controller(unlike.trace.controller.replace("# flow 2 runs", "# flow 3 runs"))


@pytest.mark.parametrize("name, holds", [(OWN, True), (PUBLISHED, False)])
def test_bytes_leave_in_the_order_in_which_they_came(name, holds):
    """No byte overtakes bytes that came in an earlier step, although the published law permits it."""
    overtakes = "ANYT(1, T, lambda t: And(S[t] <= A[t-1], S_f[0][t] > A_f[0][t-1]))"
    query = cm.Query(network(name), "avoids", what=overtakes, given="L[0] == 0")
    assert cm.verify("constant_window", query).holds is holds


def test_acknowledgements_take_each_flow_its_own_R_m(model):
    """For equal windows without a queue, a flow sends the bytes acknowledged one step, or two steps, before."""
    asked = cm.Network(model("flows=2, R=(1, 2), delay=DelayMeasurement.PER_FLOW"), "infinite", 7, delay="executions")
    given = "alpha == 1/4; A_f[0][1] == 1/4; A_f[1][1] == 1/4; S[-1] == A[-2]"
    worst = cm.worst("constant_window", asked, "share", start="empty", given=given, resolution="1/20")
    columns = worst.trace.columns
    for t in range(2, 7):
        assert columns["A1"][t] == columns["S1"][t - 1] + Fraction(1, 4)
        assert columns["A2"][t] == columns["S2"][t - 2] + Fraction(1, 4)
    assert cm.replay(worst.trace, allow_code=True).outcome is Outcome.BREAKS


def test_jain_is_told_of_the_lesser_share(tmp_path):
    asked = ["worst", "constant_window", "--model", OWN, "--buffer", "infinite", "--horizon", "4", "--from", "empty"]
    asked += ["--given", "alpha == 1", "--resolution", "1/10"]
    code, out, _ = run(*asked, "--of", "jain", "--json", cwd=tmp_path)
    (line,) = lines(out)
    assert code == 0 and (line["none"], line["some"]) == ("1/5", "3/10") and line["index"] == ["25/34", "25/29"]
    trace = cm.Trace.load(tmp_path / line["trace"])
    first, second = (trace.columns[name][-1] for name in ("S1", "S2"))
    assert (first + second) ** 2 / (2 * (first**2 + second**2)) < Fraction(25, 29)
    code, out, _ = run(*asked, "--of", "jain", cwd=tmp_path)
    assert "Jain's index never below 25/34, sometimes below 25/29" in out


@pytest.mark.parametrize(
    "chosen, message",
    [
        ("flows=0", "flows is 0; expected a whole number from 1 to 8"),
        ("flows=9", "flows is 9; expected a whole number from 1 to 8"),
        ("flows=2, R=3/2", "R is 1.5; expected a whole number of steps"),
        ("flows=2, R=(1, 3/2)", "R is (1, 1.5); expected a whole number of steps"),
        ("flows=2, R=(1, 2, 3)", "R is (1, 2, 3); expected a whole number of steps from 1 to 100, or a tuple of 2"),
        ("flows=2, R=0", "R is 0; expected a whole number of steps"),
    ],
)
def test_a_path_that_is_none_is_told(model, tmp_path, chosen, message):
    asked = ["worst", "aimd", "--of", "share", "--model", model(chosen), "--buffer", "1", "--horizon", "4"]
    code, out, err = run(*asked, cwd=tmp_path)
    assert code == 2 and out == "" and message in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "controllers, name, more, message",
    [
        (["aimd"], "ccac2021", {}, "share requires 2 to 8 flows, and ccac2021 has 1"),
        (["aimd", "copa"], "ccac2021", {"of": "queue"}, "ccac2021 has 1 flow, and 2 controllers are given"),
        (["aimd"] * 3, OWN, {}, "two_flows has 2 flows, and 3 controllers are given"),
        (["aimd"] * 9, OWN, {}, "two_flows has 2 flows, and 9 controllers are given"),
        ([], OWN, {}, "is no controller"),
        (["aimd"], "cbr_delay", {}, "share requires 2 to 8 flows, and cbr_delay has 1"),
        (["aimd"], OWN, {"given": "windows_f[0][0] > 1"}, "did you mean 'window_f'"),
        (["aimd", "constant_window"], OWN, {"given": "window_f[1][0] > 1"}, "a step or a flow that there is"),
    ],
)
def test_controllers_that_do_not_fit_the_flows_are_told(controllers, name, more, message):
    with pytest.raises(cm.InputError, match=message):
        cm.worst(controllers, network(name), **{"of": "share", **more})


def test_jain_is_of_two_flows(model):
    three = cm.Network(model("flows=3, delay=DelayMeasurement.PER_FLOW"), "infinite", 4)
    with pytest.raises(cm.InputError, match="jain requires 2 flows, .* has 3"):
        cm.worst("aimd", three, "jain")
