"""Whatever a file or a flag says, it is read or refused with a message: no number, depth or size ends otherwise."""

import json
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ccmatic import controllers as cca
from ccmatic.answers.verification.replayer import replay
from ccmatic.base import definitions, files
from ccmatic.base.errors import InputError
from ccmatic.base.quantities import DIGITS, exact
from ccmatic.deployment.exporting import header
from ccmatic.networks.trace_export import Schedule
from ccmatic.networks.traces.trace import Trace
from ccmatic.proving import result as proved
from ccmatic.questions import query as queries
from support import ROOT
from support.cli import run

PROOF = ROOT / "results" / "proofs" / "cc_qdel_T10.json"
WINDOW = ROOT / "results" / "proofs" / "cc_qdel_T10-traces" / "beyond_shrink.json"
HUGE = ("1e400000000", "1e-400000000", "1/0", "9" * 5000, "1/" + "9" * 5000, "1" + "0" * DIGITS,
        "0." + "0" * DIGITS + "1", "1e" + "9" * 30)  # fmt: skip
NO_NUMBERS = ("", "x", "1/2/3", "1e", "--1", "nan", "inf", "1_0", "0x1", "٣", 0.1, True, None, [1], {"a": 1}, 10**5000)


@pytest.mark.parametrize("value", (*HUGE, *NO_NUMBERS), ids=lambda value: f"{type(value).__name__}")
def test_what_is_no_number_or_too_long_a_one(value):
    with pytest.raises(InputError) as refused:
        exact(value)
    assert len(str(refused.value)) < 200


@given(st.fractions(), st.sampled_from([str, lambda f: f, lambda f: f" {f} "]))
@settings(derandomize=True)
def test_numbers_are_read_exactly(number, written):
    assert exact(written(number)) == number


@pytest.mark.parametrize(
    "text, value", [("0.1", "1/10"), (".5", "1/2"), ("3.", "3"), ("+1e-2", "1/100"), ("-2/4", "-1/2")]
)
def test_numbers_as_people_write_them(text, value):
    assert exact(text) == Fraction(value)


@pytest.mark.parametrize("number", HUGE)
@pytest.mark.parametrize("place", ["constant", "column", "horizon", "buffer", "jitter", "threshold"])
def test_numbers_in_traces(number, place, tmp_path):
    data = json.loads(WINDOW.read_text())
    match place:
        case "constant":
            data["constants"]["MSS"] = number
        case "column":
            data["columns"]["A"][0] = number
        case "horizon":
            data["horizon"] = number
        case "threshold":
            data["query"]["property"]["constants"] = f"shrink={number}"
        case key:
            data["query"][key] = number
    (tmp_path / "trace.json").write_text(json.dumps(data))
    code, _, err = run("replay", tmp_path / "trace.json")
    assert code == 2 and len(err) < 500 and "fault of ccmatic" not in err


@pytest.mark.parametrize("number", HUGE)
def test_numbers_on_the_command_line(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    verify = ["verify", "cc_qdel", "--model", "ccac", "--horizon", "6", "--buffer", "infinite"]
    for flags in ([*verify, "--jitter", number], [*verify[:4], "--buffer", "1", "--horizon", number],
                  [*verify[:4], "--horizon", "6", "--buffer", number], [*verify, "--utilisation", number],
                  ["export", "cc_qdel", "--target", "c", "--jitter", number],
                  ["export", "cc_qdel", "--target", "c", "--horizon", "1000000000"]):  # fmt: skip
        code, _, err = run(*flags)
        assert code == 2 and len(err) < 500 and "fault of ccmatic" not in err


def test_horizons_have_an_end():
    with pytest.raises(InputError, match="the horizon is 1000000000; expected a whole number of steps, 3 to 1000"):
        queries.make("ccac", "any", 1000000000)


@pytest.mark.parametrize("toml", [
    'horizon = 0x' + "f" * 5000, "horizon = " + "9" * 5000, "horizon = 1e400000000", "horizon = 6.5",
    "horizon = " + "[" * 5000, "horizon = " + '{a = ' * 400 + "1" + "}" * 400,
    "horizon = [" + "0x" + "f" * 5000 + "]", "# " + "x" * 2**18,
])  # fmt: skip
def test_numbers_and_depth_in_queries(toml, tmp_path):
    file = tmp_path / "query.toml"
    file.write_text(f'[network]\nmodel = "ccac"\nbuffer = "any"\n{toml}\n')
    with pytest.raises(InputError) as refused:
        queries.load(str(file))
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize("text", [
    "[" * 10**5 + "]" * 10**5, '{"a":' * 10**5 + "1" + "}" * 10**5, "[" * 30 + "]" * 30,
    "9" * 10**6, '["\\ud800"]', '["\\u001b[2J"]',
])  # fmt: skip
def test_depth_and_characters_of_json(text, tmp_path):
    (tmp_path / "data.json").write_text(text)
    for read in (Trace.load, proved.load_result):
        with pytest.raises(InputError) as refused:
            read(tmp_path / "data.json")
        assert len(str(refused.value)) < 500


def test_size_of_files(tmp_path, monkeypatch):
    monkeypatch.setattr(files.read_text, "__defaults__", (1000,))
    (tmp_path / "trace.json").write_text(" " * 1001)
    with pytest.raises(InputError, match="it is larger than .*, the limit"):
        Trace.load(tmp_path / "trace.json")


RATE = "def rate(C_L, R_m, D):\n    return "


def nested(inner, times, around):
    """Return the text within many nested others."""
    for number in range(times):
        inner = around.format(inner, number)
    return inner


@pytest.mark.parametrize("source", [
    RATE + "C_L * 1e400000000", RATE + "C_L * " + "9" * 5000, RATE + "C_L * 0x" + "f" * 10**5,
    RATE + "C_L * " + " * ".join(["1e300"] * 50), RATE + "C_L * " + " * ".join(["1e300"] * 1000),
    RATE + "-" * 5000 + "C_L", RATE + "(" * 500 + "C_L" + ")" * 500, RATE + "C_L" + "\n#" * 10**6,
    RATE + "C_L * " + " * ".join(["(R_m + D + max(R_m, D) + max(R_m, 2 * D)) / R_m"] * 12),
    RATE + "C_L * " + nested("R_m", 33, "max({0}, D) * (R_m + D + R_m)"),
    RATE + "max(" + ", ".join(["C_L"] * 20_000) + ")",
    "def rate(C_L):\n    if C_L > 0:\n        return C_L\n" + "    elif C_L > 0:\n        return C_L\n" * 300
    + "    return C_L\n",
])  # fmt: skip
def test_size_of_controllers(source):
    with pytest.raises(InputError) as refused:
        cca.parse(source)
    assert len(str(refused.value)) < 10**4


@pytest.mark.parametrize("source", [
    RATE + nested("C_L", 24, "(C_L if {0} > {1} * C_L else 2 * C_L)"),
    RATE + "C_L * (" + nested("D / R_m", 40, "1 / (1 + {0})") + ")",
])  # fmt: skip
def test_what_nests_within_limits_takes_no_time(source, tmp_path):
    """Each was exponential in its depth: conditions in C, divisors in listings."""
    (tmp_path / "nested.py").write_text(source)
    made = header.make(str(tmp_path / "nested.py"))
    assert made.controller.pretty()
    try:
        made.header()
    except InputError as refused:
        assert "64 bits" in refused.message


# Anything at all.

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        [*HUGE, "lemma", "cc_qdel", "ccac", "infinite", "1/2", "-1", "../x.py", "def rate(C_L):\n    return C_L"]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=6,
)


def places(data, path=()):
    """Where in data something may be replaced."""
    yield path
    for key in data if isinstance(data, dict) else range(min(len(data), 2)) if isinstance(data, list) else ():
        yield from places(data[key], (*path, key))


def replaced(data, path, value):
    """The data with a value in that place."""
    if not path:
        return value
    copy = data.copy()
    copy[path[0]] = replaced(data[path[0]], path[1:], value)
    return copy


TRACE, PROVED = json.loads(WINDOW.read_text()), json.loads(PROOF.read_text())
fuzzed = settings(derandomize=True, deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))


@fuzzed
@given(st.sampled_from(list(places(TRACE))), VALUES)
def test_any_trace_is_judged_or_refused(path, value):
    try:
        replay(Trace.from_json(json.dumps(replaced(TRACE, path, value)), "trace.json"))
    except InputError as refused:
        assert str(refused)


@fuzzed
@given(st.sampled_from(list(places(PROVED))), VALUES)
def test_any_proof_is_read_or_refused(tmp_path_factory, path, value):
    file = tmp_path_factory.getbasetemp() / "fuzzed.json"
    file.write_text(json.dumps(replaced({**PROVED, "lemmas": [], "constants": {}}, path[:1], value)
                               if path else json.dumps(value)))  # fmt: skip
    try:
        proved.load_result(file)
    except InputError as refused:
        assert str(refused)


SCHEDULE = [
    "# ccmatic schedule 1", "# rate 3000000 bytes/s", "# step 40000000 ns", "# packet 1500 bytes", "# buffer infinite",
    "# queue 0 bytes", "# lost 0 bytes", "# beliefs C_L=1", "time_ns,admitted,served", "0,0,0", "40000000,9,9",
]  # fmt: skip


@fuzzed
@given(st.integers(0, len(SCHEDULE) - 1), st.text(max_size=20) | st.sampled_from(HUGE), st.booleans())
def test_any_schedule_is_read_or_refused(tmp_path_factory, line, text, within):
    lines = [*SCHEDULE]
    lines[line] = f"{lines[line].rpartition(' ')[0]} {text}" if within else text
    file = tmp_path_factory.getbasetemp() / "fuzzed.csv"
    file.write_text("\n".join(lines), encoding="utf-8", errors="replace")
    try:
        Schedule.load(file)
    except InputError as refused:
        assert str(refused)


@fuzzed
@given(VALUES)
def test_any_name_is_found_or_refused(value):
    for kind, attribute in (
        ("models", "MODEL"),
        ("properties", "PROPERTY"),
        ("templates", "TEMPLATE"),
        ("proofs", "PROOF"),
    ):
        try:
            definitions.load(kind, attribute, value)
        except InputError as refused:
            assert str(refused)
