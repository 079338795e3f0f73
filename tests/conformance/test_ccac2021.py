"""CCAC's published verdicts are those of `ccac2021`. Queries in its language are parsed and never executed."""

import json
from fractions import Fraction

import pytest
from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement

from ccmatic.answers.verification import VIOLATED, Judge, Outcome, check_trace
from ccmatic.base import InputError
from ccmatic.questions import query as queries
from support import ccac as peers
from support.benchmarks import run_benchmark
from support.sampling import each_nth

SAMPLE = dict(peers.sample())
BENCHMARK = peers.benchmark()


@pytest.mark.parametrize("name", each_nth(3, SAMPLE))
def test_a_sample_of_verdicts_is_ccacs(name):
    assert BENCHMARK.ask(name, SAMPLE[name]).differing == []


def test_the_sample_has_every_controller_encoding_and_number_of_flows():
    asked = [entry["query"] for entry in SAMPLE.values()]
    assert {each["cca"] for each in asked} == {"aimd", "any", "bbr", "const", "copa"}
    assert {entry["encoding"] for entry in SAMPLE.values()} == {"main", "fork"}
    assert {each["N"] for each in asked} == {1, 2}
    assert {case["verdict"] for entry in SAMPLE.values() for case in entry["cases"]} == {"sat", "unsat"}


@pytest.mark.slow
@pytest.mark.parametrize("file", peers.FILES, ids=[file.stem for file in peers.FILES])
def test_every_verdict_is_ccacs(file):
    every = [(name, entry) for stem, name, entry in peers.queries() if stem == file.stem]
    assert [line for name, entry in every for line in BENCHMARK.ask(name, entry).differing] == []


@pytest.mark.parametrize("wrong", [False, True])
def test_the_benchmark_counts_the_verdicts_that_differ(wrong, tmp_path):
    name, entry = next((name, entry) for name, entry in SAMPLE.items() if len(entry["cases"]) == 2)
    if wrong:
        first, second = entry["cases"]
        entry = {**entry, "cases": [{**first, "verdict": second["verdict"]}, second]}
    (tmp_path / "cases.json").write_text(json.dumps({name: entry}))
    done = run_benchmark("ccac", "cases.json", cwd=tmp_path)
    assert done.stdout.splitlines()[-1].startswith(f"{int(wrong)} of 2 verdicts differ, ")
    assert done.returncode == int(wrong), done.stderr


def two_flows(x):
    """The judgement on AIMD: whether the second flow may have less than x times what the first has, for ever."""
    no_timeout = "ALLT(0, T, lambda t: Not(Or(timeout_f[0][t], timeout_f[1][t])))"
    thresholds = {
        "what": "S_f[1][T-1] < x*S_f[0][T-1]",
        "given": f"alpha < 1/4; L[0] == 0; c_f[0][0] == c_f[1][0]; {no_timeout}",
        "x": x,
        "periodic": "1",
    }
    asked = queries.make("ccac2021_two_flows", "1", 4, property="avoids", thresholds=thresholds)
    return asked, Judge(asked).judge(asked.controller("aimd"))


def test_two_flows_are_judged_and_replayed():
    asked, judgement = two_flows("11/20")
    trace = judgement.trace
    assert judgement.verdict == VIOLATED and judgement.report.outcome is Outcome.BREAKS
    assert trace.columns["S2"][-1] < Fraction(11, 20) * trace.columns["S1"][-1]
    changed = trace.with_columns(S2=(*trace.columns["S2"][:-1], trace.columns["S2"][-1] / 2))
    assert check_trace(asked, changed).faults
    assert two_flows("1/2")[1].holds


@pytest.mark.parametrize(
    "change, message", [({"cca": "cubic"}, "found C 1, cca cubic"), ({"buf_min": "x"}, "buffer is 'x'")]
)
def test_the_benchmark_refuses_what_it_does_not_know(change, message):
    entry = next(iter(SAMPLE.values()))
    with pytest.raises(InputError, match=message):
        BENCHMARK.Case({**entry["query"], **change}, entry["encoding"])


@pytest.mark.parametrize("change", [{"pacing": True}, {"dupacks": "1/2"}])
def test_a_paced_aimd_and_a_given_number_of_bytes_are_asked(change):
    """Paced, it cannot send a window at once; half a BDP of duplicate acknowledgements is a packet of a sixth."""
    asked = next(entry["query"] for entry in SAMPLE.values() if entry["query"]["cca"] == "aimd")
    for says, answer in (("A[2] > A[1] + c_f[0][2]", "unsat"), ("alpha < 1/6", "unsat"), ("alpha == 1/6", "sat")):
        if ("A[" in says) == ("pacing" in change):
            case = BENCHMARK.Case({**asked, **change, "assume": []}, "main")
            assert case.ask({"property": says, "threshold": None}) == answer


EXPRESSIONS = [
    ("__import__('os').system('true')", "numbers, columns such as S[t]"),
    ("S[T] < 1", "a step or a flow that there is, from 0 to 4; it is 5"),
    ("S[-6] < 1", "a step or a flow that there is, from 0 to 4; it is -6"),
    ("S_f[1][0] < 1", "a step or a flow that there is, from 0 to 0; it is 1"),
    ("Z[0] < 1", "a name that is known"),
    ("S[0]", "a condition"),
    ("S < 1", "a number"),
    ("S[0] < S", "a number"),
    ("A[0] * S[0] < 1", "found 'A[0] * S[0]' in 'A[0] * S[0] < 1': a product of two unknowns is not linear"),
    ("S[1] / 0 < 1", "a divisor other than 0"),
    ("S[0] <", "is no expression"),
    ("S[0].real < 1", "numbers, columns such as S[t]"),
    ("ALLT(0, T, lambda t, u: S[t] < 1)", "numbers, columns such as S[t]"),
    ("ALLT(0, 10**9, lambda t: S[0] < 1)", "numbers, columns such as S[t]"),
    ("ALLT(0, 9999999999999999999, lambda t: S[0] < 1)", "found 'ALLT(0, 9999999999999999999, lambda t: S"),
    ("ALLT(0, 9999, lambda t: ANYT(0, 9999, lambda s: S[0] < 1))", "found 'ANYT(0, 9999, lambda s: S[0] < 1)' in"),
    pytest.param(
        f"And({', '.join(['ALLT(0, 9999, lambda t: t < 0)'] * 20)})", "at most 200000 parts", marks=pytest.mark.slow
    ),
    ("Not(S[0] < 1, S[0] < 2)", "another number of conditions"),
    ("S[0] is 1", "one of < <= > >= == !="),
    ("(" * 300 + "S[0]" + ")" * 300 + " < 1", "is no expression"),
]


@pytest.mark.parametrize("text, expected", EXPRESSIONS)
def test_what_is_no_condition_is_refused(text, expected):
    asked = queries.make("ccac2021", "1", 5, property="avoids", thresholds={"what": text})
    with pytest.raises(InputError) as caught:
        Judge(asked).judge(asked.controller("constant_window"))
    assert expected in caught.value.message


@pytest.mark.parametrize(
    "laws, message",
    [
        ({"flows": 0}, "flows is 0; expected a whole number from 1 to 8"),
        ({"flows": 9}, "flows is 9; expected a whole number from 1 to 8"),
        ({"flows": 2, "delay": DelayMeasurement.UNMEASURED}, "delays order the bytes of a shared queue; expected"),
        ({"R": "1/2"}, "R is '1/2'; expected a whole number"),
        ({"waste": "never"}, "waste is 'never'; expected one of Waste.COMPOSING, Waste.NON_COMPOSING"),
        ({"delay": "each flow's own"}, "expected one of DelayMeasurement.PUBLISHED, "),
    ],
)
def test_laws_that_there_are_not_are_refused(laws, message):
    with pytest.raises(InputError) as caught:
        CCAC2021(**laws)
    assert message in caught.value.message
