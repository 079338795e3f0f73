"""Replay: a trace that was saved passes it; any number changed, and it says which law is broken."""

import csv
import json
from fractions import Fraction
from io import StringIO

import pytest

from ccmatic import controllers as cca
from ccmatic.answers.verification import counterexample
from ccmatic.answers.verification.replayer import Outcome, replay
from ccmatic.answers.verification.verifier import Verifier
from ccmatic.base.errors import InputError
from ccmatic.networks.traces.trace import Trace
from ccmatic.questions import query as queries
from support import ROOT
from support.cli import lines, run
from support.failures import CONTROLLERS, FAILURES, failing
from support.sampling import each_nth


def each(failures):
    """A test for each of these."""
    return pytest.mark.parametrize("failure", failures, ids=lambda failure: "-".join(map(str, failure)))


failures = each(FAILURES)


@failures
def test_a_saved_trace_passes(failure, tmp_path):
    trace = failing(failure)
    file = tmp_path / "trace.json"
    trace.save(file)
    loaded = Trace.load(file)
    assert loaded == trace and not loaded.altered
    report = replay(loaded)
    assert report.faults == () and report.outcome is Outcome.BREAKS
    assert trace.broken == tuple(name for name, met in report.objectives.items() if not met) != ()
    assert "broken laws: none" in str(report)


@failures
def test_json_and_csv_are_exact(failure):
    trace = failing(failure)
    assert Trace.from_json(trace.to_json()) == trace
    rows = list(csv.DictReader(StringIO(trace.to_csv())))
    assert [{name: Fraction(row[name]) for name in trace.columns} for row in rows] == [
        {name: row[name] for name in trace.columns} for row in trace.rows()
    ]
    assert [int(row["t"]) for row in rows] == list(range(trace.horizon))
    assert all(Fraction(row[name]) == value for row in rows for name, value in trace.constants.items())


def test_saving_as_csv_goes_by_the_name(tmp_path):
    failing(FAILURES[0]).save(tmp_path / "trace.csv")
    assert (tmp_path / "trace.csv").read_text() == failing(FAILURES[0]).to_csv()


def numbers(data):
    """The place of each number: (section, name), and the step in a column."""
    yield from (("constants", name) for name in data["constants"])
    yield from (("columns", name, t) for name, column in data["columns"].items() for t in range(len(column)))


def with_a_digit_changed(data, place):
    """A copy in which the first digit of the number at a place is another one, not 0."""
    copy = json.loads(json.dumps(data))
    *path, last = place
    holder = copy
    for key in path:
        holder = holder[key]
    first = next(i for i, char in enumerate(holder[last]) if char.isdigit())
    digit = int(holder[last][first]) % 9 + 1
    holder[last] = f"{holder[last][:first]}{digit}{holder[last][first + 1 :]}"
    return copy


@each(each_nth(3, [(failure,) for failure in FAILURES]))
def test_any_digit_changed_is_a_fault(failure):
    """The digest reveals every change. The laws reveal nearly all of them.

    The others give another valid trace: with a larger or smaller delay, another past, or another size of packets or of
    an `any` buffer.
    """
    data = json.loads(failing(failure).to_json())
    places = list(numbers(data))
    left_open = []
    for place in places:
        report = replay(Trace.from_json(json.dumps(with_a_digit_changed(data, place))))
        assert "trace.unaltered_since_saved" in report.faults, place
        if len(report.faults) == 1:
            left_open.append(place[1:])
    decided = {"A", "L", "Ld", "C_L", "C_U", "C_Llambda", "r", "q_U", "C", "R_m", "D"}
    assert [place for place in left_open if place[0] in decided and not is_first(*place)] == []
    assert len(left_open) <= len(places) / 4


def is_first(name, t=None):
    """Whether a number is of the past, which a trace may choose."""
    return t == 0 and name not in ("A", "L", "Ld")


@pytest.mark.parametrize(
    "name, step, value, law",
    [
        ("A", 3, 100, "ccac.sends at t=3"),
        ("S", 3, 100, "ccac.served_after_sent at t=3"),
        ("S", 2, 0, "ccac.served_within_jitter at t=2"),
        ("K", 3, 100, "ccac.tokens_come_at_link_rate at t=3"),
        ("L", 6, 100, "ccac.loss_is_of_new_bytes at t=6"),
        ("L", 1, 100, "trace.Ld_agrees at t=2"),
        ("Ld", 1, 100, "trace.Ld_agrees at t=1"),
        ("Q", 4, 7, "ccac.Q_grows_by_one_a_step at t=4"),
        ("r", 2, 100, "sender.rate_is_the_controllers at t=2"),
        ("C_L", 4, 100, "ccac.C_L_moves at t=4"),
        ("C_U", 0, 0, "ccac.C_U_holds_at_first at t=0"),
        ("MSS", None, 1, "ccac.packet_size at t=0"),
        ("C", None, 2, "trace.C_as_in_query"),
        ("D", None, 2, "trace.D_as_in_query"),
    ],
)
def test_the_broken_law_is_named(name, step, value, law):
    trace = Trace.load(ROOT / "results" / "gallery" / "always_double.json")
    assert law in replay(changed(trace, name, step, Fraction(value))).faults


def changed(trace, name, step, value):
    """The trace with one number replaced."""
    data = json.loads(trace.to_json())
    del data["digest"]
    if step is None:
        data["constants"][name] = str(value)
    else:
        data["columns"][name][step] = str(value)
    return Trace.from_json(json.dumps(data))


def test_another_controllers_source_is_a_fault():
    data = json.loads(failing(FAILURES[0]).to_json())
    data["controller"] = data["controller"].replace("2 * C_L", "3 * C_L")
    faults = replay(Trace.from_json(json.dumps(data))).faults
    assert "sender.rate_is_the_controllers at t=1" in faults


GONE = object()
INFINITE = float("inf")
#: What a trace's file says instead at one place.
EDITS = {
    "wrong-format": (("format",), "ccmatic trace 0"),
    "no-format": (("format",), GONE),
    "no-horizon": (("horizon",), GONE),
    "infinite-horizon": (("horizon",), INFINITE),
    "no-columns": (("columns",), GONE),
    "columns-are-a-list": (("columns",), [1, 2]),
    "missing-column": (("columns", "S"), GONE),
    "missing-delay": (("columns", "Q"), GONE),
    "missing-belief": (("columns", "C_L"), GONE),
    "wrong-length": (("columns", "S", 4), GONE),
    "not-a-number": (("columns", "S", 2), "two"),
    "infinite-number": (("columns", "S", 2), INFINITE),
    "missing-packet-size": (("constants", "MSS"), GONE),
    "missing-buffer": (("constants", "beta"), GONE),
    "missing-step-length": (("constants", "R_m"), GONE),
    "divided-by-zero": (("constants", "MSS"), "1/0"),
    "no-query": (("query",), {}),
    "another-horizon": (("query", "horizon"), "6"),
    "wrong-buffer": (("query", "buffer"), "-1"),
    "wrong-delay": (("query", "delay"), "any"),
    "unknown-model": (("query", "model"), "ccca"),
    "model-is-a-number": (("query", "model"), 5),
    "unknown-property": (("query", "property", "name"), "invariant"),
    "unknown-threshold": (("query", "property", "utilization"), "1/2"),
    "no-python": (("controller",), "def rate(C_L) return C_L"),
    "unknown-belief": (("controller",), "def rate(C_M):\n    return C_M\n"),
    "controller-is-a-number": (("controller",), 5),
}


def edited(place, value):
    """The text of a trace with another value at a place, or without that place."""
    data = json.loads(failing(FAILURES[0]).to_json())
    *path, last = place
    holder = data
    for key in path:
        holder = holder[key]
    if value is GONE:
        del holder[last]
    else:
        holder[last] = value
    return json.dumps(data)


def replay_text(text, folder):
    """Replay a file of this text, named trace.json."""
    file = folder / "trace.json"
    file.write_text(text)
    return replay(file)


@pytest.mark.parametrize("name", EDITS)
def test_a_broken_file_is_an_input_error_that_names_it(name, tmp_path):
    with pytest.raises(InputError, match=r"trace\.json"):
        replay_text(edited(*EDITS[name]), tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "t,A,S\n0,1,2\n", '{"format": "ccmatic trace 1"'])
def test_a_file_of_something_else_is_an_input_error_that_names_it(text, tmp_path):
    with pytest.raises(InputError, match=r"trace\.json"):
        replay_text(text, tmp_path)


def test_a_truncated_file_is_an_input_error_that_names_it(tmp_path):
    text = failing(FAILURES[0]).to_json()
    for length in range(0, len(text) - 1, 97):
        with pytest.raises(InputError, match=r"trace\.json"):
            replay_text(text[:length], tmp_path)


def test_a_trace_may_state_beliefs_that_its_controller_does_not_read():
    """Those of a verifier for other controllers, say."""
    query = queries.make("ccac", "any", 5)
    controller = cca.load(CONTROLLERS / "always_double.py", query.units())
    verifier = Verifier(query, query.units())
    verdict = verifier.verify(controller)
    trace, _ = counterexample.for_people(verifier.part(verdict.way), controller)
    assert replay(trace).faults == ()


@pytest.mark.parametrize("delay", ["1/2", "-1"])
def test_a_measured_delay_is_a_whole_number_of_steps(delay):
    trace = changed(failing(("late_drain", "ccac", "infinite", 5)), "Q", 0, Fraction(delay))
    assert replay(trace).faults != ()


def test_a_missing_file_and_one_that_is_not_text_are_input_errors(tmp_path):
    with pytest.raises(InputError, match="no_trace.json"):
        Trace.load(tmp_path / "no_trace.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="binary.json"):
        Trace.load(tmp_path / "binary.json")


def test_several_traces_are_checked_one_by_one_and_the_worst_decides(tmp_path):
    """A glob of traces, as in the guides, was refused."""
    good = ROOT / "results" / "gallery" / "late_drain.json"
    data = json.loads(good.read_text())
    data["columns"]["S"][1] = "9999"
    (tmp_path / "forged.json").write_text(json.dumps(data))
    code, out, _ = run("replay", good, good)
    assert code == 0 and out.count(f"{good}: passes") == 2
    code, out, _ = run("replay", tmp_path / "forged.json", good, "--json")
    assert code == 1 and [line["passes"] for line in lines(out)] == [False, True]
    code, out, _ = run("replay", tmp_path / "forged.json", "--expect", "queue <= 9 bdp", "--json")
    assert code == 1 and [each["verdict"] for each in lines(out)[0]["expectations"]] == ["cannot be judged"]


@pytest.mark.parametrize("option", ["--plot", "--html", "--csv"])
def test_options_that_write_one_file_take_one_trace(option, tmp_path):
    trace = ROOT / "results" / "gallery" / "late_drain.json"
    code, out, err = run("replay", trace, trace, option, tmp_path / "file.csv")
    assert (code, out) == (2, "") and f"{option} does not fit here; expected one trace beside it" in err
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_a_trace_of_starve_and_of_worst_says_the_expectation_and_the_controllers_name(tmp_path):
    path = "24 mbit, rtt 40 ms, buffer 1 bdp"
    _, out, _ = run(
        "worst", "reno", "--on", path, "--expect", "queue <= 1 bdp", "--from", "converged", "--out", tmp_path
    )
    assert "'queue <= 1 bdp': the worst value of this trace is above 99/100 bdp." in out and "avoids" not in out
    (file,) = tmp_path.glob("*.json")
    _, out, _ = run("replay", file)
    assert "'queue <= 99/100 bdp' is not met in this trace." in out and "breaks: queue <= 99/100 bdp" in out
    run("starve", "vegas", "--period", "1", "--out", tmp_path / "starve")
    (file,) = (tmp_path / "starve").glob("*.json")
    _, out, _ = run("replay", file)
    assert "breaks: share >= 1/1000" in out and "Flow 2 (vegas) is served" in out and "Flow 2 (controller)" not in out
    file.write_text(file.read_text().replace('"vegas"', '"it holds for ever"'))
    _, out, _ = run("replay", file)
    assert "Flow 2 (controller)" in out and "it holds for ever" not in out
