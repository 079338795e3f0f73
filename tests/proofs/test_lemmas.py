"""Proofs: what `prove` finds is at its edge, and `check` accepts that and nothing else."""

import gzip
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from ccmatic.answers.verification import Outcome, replay
from ccmatic.base import definitions
from ccmatic.contracts.proof import Measure, State
from ccmatic.logic import isolated
from ccmatic.networks.traces import Trace
from ccmatic.proving import constants, proof_search
from ccmatic.proving import prover as prove
from ccmatic.proving import result as proved
from ccmatic.proving.claim import steps, windows_after
from ccmatic.proving.proof_check import check_windows
from support import TESTS
from support.cli import run
from support.json_schemas import validate

HERE = TESTS
TINY = str(HERE / "proofs" / "tiny.py")
QDEL = HERE.parent / "synthesized" / "cc_qdel.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What `prove` wrote, with the certificate of a lemma."""
    return proved_in(tmp_path_factory.mktemp("proofs"))


@isolated
def proved_in(folder):
    prover = prove.Prover(TINY, QDEL)
    result = proved.begin_result(folder, prover, TINY)
    constants.search(prover, result)
    constants.decide(prover, result)
    assert list(proof_search.make_certificates(result, prover, ["C_L too high: progresses"]))
    return folder


@pytest.fixture
def copy(folder, tmp_path):
    """A copy of it to tamper with: its main file."""
    for file in folder.rglob("*"):
        target = tmp_path / file.relative_to(folder)
        target.mkdir() if file.is_dir() else target.write_bytes(file.read_bytes())
    return next(tmp_path.glob("*.json"))


@isolated
def fault(file, about):
    """The first fault that `check` finds about something, of a file whose other lemmas have no verdict to check."""
    result = proved.load_result(file, allow_code=True)
    result.answers = {lemma: answer for lemma, answer in result.answers.items() if lemma == about}
    checked = check_windows(result)
    return next(found.fault for found in checked if found.about == about and found.fault)


def edit(file, change):
    """Change the data in a file."""
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))


def test_what_was_proved_is_accepted(copy):
    code, out, _ = run("check", copy, "--json", "--allow-code")
    *findings, summary = map(json.loads, out.splitlines())
    assert code == 0 and summary["accepted"]
    validate(summary, "CheckLine")
    for found in findings:
        validate(found, "FindingLine")
    how = {found["about"]: found["how"] for found in findings}
    assert "certificate" in how["C_L too high: progresses"]
    assert "decided again" in how["true: leads on"]
    assert "replayed" in how["edge of rise"]


def test_a_constant_past_its_edge_is_rejected(copy):
    rise = proved.load_result(copy, allow_code=True).values["rise"]
    edit(copy, lambda data: data["constants"]["rise"].update(value=str(rise + Fraction(1, 10))))
    assert fault(copy, "C_U too low: progresses")


def test_a_missing_constant_is_rejected(copy):
    edit(copy, lambda data: data["constants"].pop("fall"))
    assert fault(copy, "constants") == "missing: fall"


def test_a_changed_multiplier_is_rejected(copy):
    file = next(copy.parent.rglob("C_L_too_high_progresses.json.gz"))
    data = json.loads(gzip.decompress(file.read_bytes()))
    data["lemmas"][0][0][1] += 1
    file.write_bytes(gzip.compress(json.dumps(data).encode()))
    assert "does not hold" in fault(copy, "C_L too high: progresses")


def test_a_changed_window_is_rejected(copy):
    file = copy.with_name(f"{copy.stem}-traces") / "beyond_rise.json"
    edit(file, lambda data: data["columns"]["S"].__setitem__(2, "1/7"))
    assert "breaks" in fault(copy, "edge of rise")


def test_a_state_taken_from_the_cover_is_rejected(copy, tmp_path):
    text = Path(TINY).read_text().replace("states=(EMPTY, HIGH, LOW, TRUE)", "states=(HIGH, LOW, TRUE)")
    (tmp_path / "tiny.py").write_text(text)
    edit(copy, lambda data: data.update(proof=str(tmp_path / "tiny.py")))
    assert fault(copy, "states cover everything")


def test_a_killed_proof_goes_on(copy, monkeypatch):
    """Answers in the file are not computed again."""
    edit(copy, lambda data: (data["constants"].pop("rise"), data["lemmas"].__delitem__(slice(2))))
    asked = []
    ask = prove.Prover.ask
    monkeypatch.setattr(prove.Prover, "ask", lambda self, lemma, c: asked.append(c.keys()) or ask(self, lemma, c))
    code, out, _ = run("prove", QDEL, "--proof", TINY, "--out", copy.parent, "--json")
    lines = list(map(json.loads, out.splitlines()))
    assert code == 0 and [line["constant"] for line in lines if "constant" in line] == ["rise"]
    for line in lines[:-1]:
        validate(line, "ConstantLine" if "constant" in line else "LemmaLine")
    validate(lines[-1], "ProofLine")
    assert all("rise" in names for names in asked)
    assert lines[-1]["proved"] and "for ever" in lines[-1]["claim"][-1]
    assert "C_L too high" in copy.with_suffix(".md").read_text() and copy.with_suffix(".svg").exists()


def test_an_edited_proof_does_not_go_on(copy):
    edit(copy, lambda data: data.update(definition="0" * 64))
    code, _, err = run("prove", QDEL, "--proof", TINY, "--out", copy.parent)
    assert code == 2 and "another version" in err


# Lemma sets that do not add up.


BASE = definitions.load("proofs", "PROOF", TINY, allow_code=True)


def test_states_that_lead_in_a_circle_are_no_proof():
    """Section 5.2: each bound may improve in one window and degrade in the next."""
    empty, high, low, true = BASE.states
    circle = replace(
        BASE, states=(empty, replace(high, leads_to=("C_U too low",)), replace(low, leads_to=(high.name,)), true)
    )
    prover = prove.Prover(TINY, QDEL)
    prover.proof = circle
    (fault,) = prover.faults({"utilisation": Fraction(1, 2), "fall": Fraction(2), "rise": Fraction(2)})
    assert "'C_U too low' leads back to 'C_L too high'" in fault


def test_a_measure_that_also_degrades_is_no_proof(tmp_path):
    """At least one of C - C_L and C_U - C decreases; but not: neither increases."""
    text = (
        Path(TINY)
        .read_text()
        .replace(
            'TRUE = State("true", "C_L ≤ C ≤ C_U", lambda x, t, c: link_rate.true(x, t))',
            "TRUE = replace(CROSSED, name='true', says='', holds=lambda x, t, c: link_rate.true(x, t),\n"
            "               leads_to=(), measures=tuple(replace(measure, by='rise')\n"
            "                                           for measure in (link_rate.C_L, link_rate.C_U)))",
        )
    )
    (tmp_path / "tiny.py").write_text(text)
    prover = prove.Prover(str(tmp_path / "tiny.py"), QDEL)
    constants = {"utilisation": Fraction(1, 2), "fall": Fraction(2), "rise": Fraction(101, 100)}
    answer = prover.ask(prover.lemmas["true: nothing degrades"], constants)
    assert answer.verdict == "violated" and answer.trace.broken == ("true: nothing degrades",)


@pytest.mark.parametrize("measure", ["amount", "factor"])
def test_a_measure_has_a_step_and_a_limit(measure):
    unit = (lambda x: x.C) if measure == "amount" else None
    stuck = Measure("C_L", lambda x, t: x.beliefs["C_L"][t], lambda x: x.C, "C", by="by", unit=unit)
    assert stuck.stalls({"by": 0 if unit else 1}) and not stuck.stalls({"by": Fraction(11, 10)})


def test_numbers_of_windows():
    assert [steps(Fraction(3, 2), ratio) for ratio in (1, Fraction(3, 2), 2, Fraction(9, 4), 100)] == [0, 1, 1, 2, 11]
    measure = Measure("q", None, None, "0", by="drain", unit=lambda x: 1, after=lambda f, c: 4 * f)
    state = State("s", "", None, leads_to=("t",), measures=(measure,))
    assert windows_after(state, Fraction(2), {"drain": Fraction(3)}) == 1 + 2


# Bad input.


def test_a_controller_that_reads_what_the_proof_does_not_follow():
    code, _, err = run("prove", "cc_probe_slow", "--proof", TINY)
    assert code == 2 and "Traceback" not in err and "C_Llambda" in err


def test_a_lemma_with_a_free_constant(tmp_path):
    (tmp_path / "tiny.py").write_text(Path(TINY).read_text().replace('Constant("rise"', 'Constant("rize"'))
    code, _, err = run("prove", QDEL, "--proof", tmp_path / "tiny.py", "--out", tmp_path)
    assert code == 2 and "'rise' that is not declared" in err and "rize" in err


def test_a_range_in_which_nothing_holds(tmp_path):
    text = Path(TINY).read_text().replace("Fraction(101, 100), Fraction(2)", "Fraction(50), Fraction(60)")
    (tmp_path / "tiny.py").write_text(text)
    code, _, err = run("prove", QDEL, "--proof", tmp_path / "tiny.py", "--out", tmp_path)
    assert code == 2 and "no value of 'rise' from 50 to 60 works: at the loosest, 50" in err
    (window,) = tmp_path.glob("*-traces/no_rise.json")
    assert str(window) in err
    report = replay(Trace.load(window), allow_code=True)
    assert report.outcome is Outcome.BREAKS and report.query.property.constants == "rise=50"


def test_files_that_are_no_proof(tmp_path):
    (tmp_path / "x.json").write_text('{"format": "something"}')
    assert run("check", tmp_path / "x.json")[0] == 2
    assert run("check", tmp_path / "missing.json")[0] == 2
    code, _, err = run("prove", QDEL, "--proof", "cc_qdell")
    assert code == 2 and "cc_qdel" in err
