"""Proofs about the first steps of executions: how long controllers need until conditions hold for the first time."""

import json
from fractions import Fraction

import pytest
from ccmatic.properties.expectations import Reader, parse

import ccmatic as cm
from ccmatic.contracts import Buffer, execution, load_definition
from ccmatic.logic import every, isolated, no
from ccmatic.logic.solving import SAT, UNSAT, Checker
from ccmatic.proving.expectations import Decided
from ccmatic.proving.invariants.first_steps import FirstSteps, search
from support.cli import run

NETWORK = "ccac, buffer infinite, jitter 1 rtt"
STALE = "queue <= 1 bdp and C_L >= 40%"

#: AIMD's losses are detected a step later; ten packets are C·R_m.
TENTH = (
    "ccac2021 12 mbit, detection=oracle, timer=executions, loss=deterministic, begins=anywhere, delay=none, rtt 10 ms, "
    "buffer 1 bdp, jitter 10 ms"
)

#: A sender that only some executions of the network can have.
ASSUMES = """
window: bytes = above(0)


def update(window, lost, step, MSS):
    assume(lost <= lost[step])
    window = max(window / 2, MSS)


def send(window):
    return window
"""


def decided(controller, on, expect, start):
    return cm.prove_by_invariant(controller, on, expect, start=start)


@pytest.fixture(scope="module")
def learned():
    """The proof that cc_qdel learns half of the link's rate."""
    return decided("cc_qdel", NETWORK, "C_L >= 50% within 7 rtt", STALE)


def test_a_stale_belief_converges_in_a_tight_time(learned, tmp_path):
    assert learned.verdict == "proved"
    assert cm.check(learned.save(tmp_path)).verdict == "accepted"
    sooner = decided("cc_qdel", NETWORK, "C_L >= 50% within 6 rtt", STALE)
    assert sooner.verdict == "refuted"
    assert cm.replay(sooner.save(tmp_path)).outcome.name == "BREAKS"


@pytest.mark.parametrize("start, time", [("start", 10), ("queue <= 1 bdp and window <= 4 bdp", 13)])
def test_aimd_converges(start, time, tmp_path):
    proved = decided("aimd_each_step", TENTH, f"converged within {time} rtt", start)
    assert proved.verdict == "proved" and proved.first.fault() is None
    assert decided("aimd_each_step", TENTH, "converged within 4 rtt", start).verdict == "refuted"


def test_prove_writes_what_check_accepts(tmp_path):
    how = "--on", NETWORK, "--expect", "converged within 4 rtt", "--json"
    code, out, _ = run("prove", "cc_qdel", *how, cwd=tmp_path)
    line = json.loads(out)
    assert (code, line["verdict"], line["claim"], line["clauses"]) == (0, "proved", "converged within 4 rtt", None)
    code, out, _ = run("check", line["result"], cwd=tmp_path)
    assert code == 0 and "converged within 4 rtt" in out


def test_prove_says_what_a_proof_of_first_steps_leaves_out(tmp_path):
    (tmp_path / "assumes.py").write_text(ASSUMES)
    how = "--on", TENTH, "--from", "window <= 8 bdp", "--expect", "window <= 4 bdp within 2 rtt"
    code, out, _ = run("prove", "assumes.py", *how, cwd=tmp_path)
    assert code == 0 and "left out: assumptions" in out


def forged(learned, tmp_path, change):
    """Return the file of a proof after a change of its data."""
    file = learned.save(tmp_path)
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))
    return file


def of_property(**values):
    return lambda data: data["query"]["property"].update(values)


@pytest.mark.parametrize(
    "change",
    [
        of_property(what="C_L >= 51% within 7 rtt"),
        of_property(what="C_L >= 50% within 6 rtt"),
        of_property(start="queue <= 1 bdp and C_L >= 39%"),
        lambda data: data["query"].update(jitter="2"),
        lambda data: data["controller"].update(source=data["controller"]["source"].replace("C_L / 2", "C_L / 3")),
        lambda data: data["certificates"].append(data["certificates"][0]),
        lambda data: data["certificates"][0]["steps"].pop(0),
    ],
    ids=["amount", "time", "start", "network", "controller", "count", "step"],
)
def test_a_forged_proof_is_refused(learned, tmp_path, change):
    before = json.loads(learned.save(tmp_path).read_text())
    file = forged(learned, tmp_path, change)
    assert json.loads(file.read_text()) != before
    assert FirstSteps.load(file).fault()


@pytest.mark.parametrize(
    "change, expected",
    [
        (of_property(what="queue <= 7 bdp"), "is about no first steps"),
        (of_property(what="C_L >= 50% within 7 rtt; queue <= 1 bdp"), "is about no first steps"),
        (of_property(repeats="2"), "expected all from a start"),
        (lambda data: data["query"].update(delay="published"), "expected 'executions'"),
    ],
)
def test_a_file_about_something_else_is_refused(learned, tmp_path, change, expected):
    with pytest.raises(cm.InputError, match=expected):
        FirstSteps.load(forged(learned, tmp_path, change))


def test_a_start_of_no_execution_proves_nothing():
    with pytest.raises(cm.InputError, match="anything would hold"):
        decided("cc_qdel", NETWORK, "C_L >= 50% within 2 rtt", "queue <= 1 bdp and queue >= 2 bdp")


def test_a_weakened_law_is_refused(learned, monkeypatch):
    model = type(learned.question.query.model)
    laws = model.laws
    monkeypatch.setattr(
        model, "laws", lambda own, x: [law for law in laws(own, x) if law.name != "served_within_jitter"]
    )
    assert learned.first.fault()


@pytest.mark.parametrize("text", ["converged within 2 rtt", "C_L >= 50% within 2 rtt", "window <= 1 bdp within 2 rtt"])
@isolated
def test_an_expectation_within_a_time_is_broken_if_no_step_meets_it(text):
    """Its condition is compared with that of a start at each step of a shorter execution."""
    network = load_definition("models", "MODEL", "ccac_windows" if "window" in text else "ccac")
    x = execution(network, 5, Buffer.parse("2"), 1)
    reader, expectation = Reader(network, x), parse(text)
    at_first = Reader(network, x)._holds_all(expectation, 0)
    condition = reader.reason(expectation).condition
    for given, answer in (([at_first], UNSAT), ([no(at_first)], SAT)):
        checker = Checker()
        checker.add(every(*given, no(condition)))
        assert checker.check() == answer
    third = Checker()
    third.add(every(condition, *(no(reader._holds_all(expectation, t)) for t in (0, 1))))
    third.add(no(reader._holds_all(expectation, 2)))
    assert third.check() == UNSAT


def test_the_time_until_conditions_hold_is_measured(tmp_path):
    refuted = decided("cc_qdel", NETWORK, "C_L >= 50% within 6 rtt", STALE)
    found = cm.measure(refuted.trace, "C_L >= 50% within 6 rtt")
    assert (found.verdict, found.value, found.at_least) == ("not met", 7, True)
    assert cm.measure(refuted.trace, "queue <= 2 bdp within 6 rtt").value == 0


@pytest.mark.parametrize(
    "text, expected",
    [
        ("converged", "such as 'converged within 8 rtt'"),
        ("converged within 8", "such as 'converged within 8 rtt'"),
        ("C_L >= 50% within 8", "which only a least utilisation has"),
        ("no timeout within 3 rtt", "would hold if a single step has no timeout; expected 'no timeout', which"),
        ("converged within 2 rtt while queue <= 1 bdp", "says 'within 2 rtt' and 'while'"),
        ("delay <= 2 rtt within 2 rtt", "no condition at a step"),
        ("utilisation >= 1/2 within 2 rtt", "is no amount of bytes"),
        ("converged within 1/3 rtt", "whole"),
    ],
)
def test_what_has_no_meaning_is_refused(text, expected):
    with pytest.raises(cm.InputError, match=expected):
        cm.ask("cc_qdel", NETWORK, text)


def test_no_other_command_takes_it():
    question = cm.ask("cc_qdel", NETWORK, "converged within 2 rtt")
    with pytest.raises(cm.InputError, match="expected `verify` or `prove`"):
        cm.worst(question)
    with pytest.raises(cm.InputError, match="expected no period"):
        cm.answer(cm.ask("cc_qdel", NETWORK, "converged within 2 rtt", period=2))
    assert [*cm.prove_expected(cm.ask("cc_qdel", NETWORK, "queue <= 2 bdp within 2 rtt"))] == []


def test_a_time_that_no_solver_decides_is_unknown():
    asked = cm.ask("cc_qdel", NETWORK, "C_L >= 50% within 7 rtt", start=STALE)
    assert search(asked.query, asked.controller, 0.001) == (None, None)
    assert Fraction(asked.expectation.by) == 7


def test_proofs_of_two_relations_have_two_files():
    texts = [f"queue {relation} 1 bdp within 4 rtt" for relation in ("<", "<=", ">", ">=")]
    names = {Decided(cm.ask("cc_qdel", NETWORK, text, start=STALE), None, "unknown").name for text in texts}
    assert len(names) == len(texts)
