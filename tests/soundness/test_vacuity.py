"""Vacuity checks: a network or a premise without any execution is refused. The message names the conflicting laws."""

from pathlib import Path

import pytest

from ccmatic.answers.verification.verifier import HOLDS, Verifier
from ccmatic.base.errors import InputError
from ccmatic.controllers import parse
from ccmatic.logic.solving.solver import Checker
from ccmatic.proving import prover as prove
from ccmatic.proving import result as proved
from ccmatic.questions import query as queries
from support import TESTS
from support.cli import run

HERE = TESTS
TINY = HERE / "proofs" / "tiny.py"
QDEL = HERE.parent / "synthesized" / "cc_qdel.py"

MODEL = """from ccmatic.logic import equal
from ccmatic.models.ccac import CCAC


class Mine(CCAC):
    name = "mine"

    def network(self, x):
        yield from super().network(x)
        LAWS


MODEL = Mine()
"""
#: Service of a whole step beyond what tokens allow: conflicts with `served_after_admitted` and others.
CONFLICT = 'if x.horizon > 2: yield "too_much", 2, x.S[2] > x.A[2]'
#: No buffer of less than 3 has an execution.
LARGE = 'yield "large", 0, x.beta >= 3 if x.buffer.finite else True'
DOUBLE = parse("def rate(C_L):\n    return 2 * C_L\n")

SYNTH = """[network]
model = "{model}"
buffer = "infinite"
horizon = 4
[template]
name = "two_branches"
"""


def model(folder, laws):
    file = folder / "mine.py"
    file.write_text(MODEL.replace("LAWS", laws))
    return str(file)


def test_verify_refuses_a_model_that_contradicts_itself(tmp_path):
    network = ["--model", model(tmp_path, CONFLICT), "--buffer", "infinite", "--horizon", "4"]
    code, out, err = run("verify", QDEL, *network, "--out", tmp_path / "traces")
    assert (code, out) == (2, "")
    assert " and mine.too_much at t=2" in err
    assert "mine.served_after_sent at t=2" in err and len(err.splitlines()) == 1
    assert "mine.origin" not in err


def test_synth_lists_nothing_of_a_model_that_contradicts_itself(tmp_path):
    (tmp_path / "asked.toml").write_text(SYNTH.format(model=model(tmp_path, CONFLICT)))
    code, out, err = run("synth", tmp_path / "asked.toml", "--out", tmp_path / "found", "--json")
    assert (code, out) == (2, "") and "mine.too_much at t=2" in err
    assert not list((tmp_path / "found").glob("*.py"))


@pytest.mark.parametrize("buffer, inhabited", [("infinite", True), ("any", True), ("4", True), ("2", False)])
def test_a_buffer_that_a_model_admits_nothing_with(buffer, inhabited, tmp_path):
    asked = queries.make(model(tmp_path, LARGE), buffer, 4)
    verifier = Verifier(asked, ("C_L",))
    if inhabited:
        verifier.verify(DOUBLE)
        assert verifier._exists()
    else:
        with pytest.raises(InputError, match="mine.large at t=0"):
            verifier.verify(DOUBLE)


def test_a_start_that_no_belief_can_have(tmp_path):
    laws = 'yield "slow", 0, x.beliefs["C_L"][0] > x.C'
    asked = queries.make(model(tmp_path, laws), "infinite", 4)
    with pytest.raises(InputError) as error:
        Verifier(asked, ("C_L",)).verify(DOUBLE)
    assert "mine.slow at t=0" in error.value.message and "mine.C_L_holds_at_first at t=0" in error.value.message
    assert "served" not in error.value.message


def test_an_execution_is_asked_for_once_and_not_after_a_counterexample(monkeypatch):
    """For each that holds a question for each way to fail, one of beliefs once and one of an execution once."""
    asked, check = [], Checker.check
    monkeypatch.setattr(Checker, "check", lambda self: asked.append(self) or check(self))
    query = queries.make("ccac", "infinite", 7)
    holds = parse(QDEL.read_text())
    verifier = Verifier(query, holds.parameters)
    assert [verifier.verify(holds).verdict for _ in range(3)] == [HOLDS] * 3
    assert len(asked) == 1 + 1 + 3
    asked.clear()
    verifier = Verifier(query, ("C_L",))
    assert verifier.verify(DOUBLE).verdict != HOLDS
    assert len(asked) == 2 and verifier._exists()
    assert len(asked) == 2


def test_unknowns_of_a_models_own_are_refused_even_where_all_holds(tmp_path):
    laws = 'yield "own", 1, real("z") >= x.S[1]'
    text = MODEL.replace("import equal", "import real").replace("LAWS", laws)
    (tmp_path / "mine.py").write_text(text)
    asked = queries.make(str(tmp_path / "mine.py"), "infinite", 7)
    holds = parse(QDEL.read_text())
    with pytest.raises(InputError, match="mine.own at t=1 reads unknowns that no trace has") as error:
        Verifier(asked, holds.parameters).verify(holds)
    assert (error.value.file, error.value.line) == (str(tmp_path / "mine.py"), 10)


def proof(folder, old="PROOF = ", new="PROOF = "):
    """The small proof of the other tests, with a change."""
    text = TINY.read_text()
    assert old in text
    file = folder / "tiny.py"
    file.write_text(text.replace(old, new))
    return str(file)


#: No bound is below 0: a state in which no window begins.
NEVER = 'TRUE = State("true", "C_L ≤ C ≤ C_U", lambda x, t, c: x.beliefs["C_L"][t] < 0)\n\nPROOF = '
#: Of a measure in a state that every window leaves at once.
LEAVES = """from ccmatic.logic import every
ONCE = State("once", "at first only", lambda x, t, c: every(link_rate.true(x, t), x.S[t] <= 0), leads_to=("true",),
             measures=tuple(replace(measure, after=None) for measure in (link_rate.C_L, link_rate.C_U)))

PROOF = """


def test_a_state_in_which_no_window_begins_is_refused(tmp_path):
    prover = prove.Prover(proof(tmp_path, "PROOF = ", NEVER), QDEL)
    known = {"utilisation": 0, "fall": 2, "rise": 2}
    answer = prover.ask(prover.lemmas["true: leads on"], known)
    assert answer.verdict == HOLDS
    with pytest.raises(InputError, match="'true: leads on'.*ccac.C_L_starts at t=0"):
        prover.confirm(answer, known)


def test_a_state_that_every_window_leaves_is_remarked(tmp_path):
    file = Path(proof(tmp_path, "PROOF = ", LEAVES))
    file.write_text(file.read_text().replace("HIGH, LOW, TRUE)", "HIGH, LOW, ONCE, TRUE)"))
    prover = prove.Prover(str(file), QDEL)
    known = {"utilisation": 0, "fall": 2, "rise": 2, "shrink": 2}
    lemma = prover.lemmas["once: nothing degrades"]
    answer = prover.confirm(prover.ask(lemma, known), known)
    assert (answer.verdict, answer.empty) == (HOLDS, True)
    result = proved.Result(tmp_path / "r.json", str(file), prover.controller, 9, "", answers={lemma.name: answer})
    result.save()
    assert proved.load_result(tmp_path / "r.json", allow_code=True).answers[lemma.name].empty
    begins = prover.lemmas["once: leads on"]
    assert not prover.confirm(prover.ask(begins, known), known).empty


def test_prove_and_check_refuse_a_network_without_windows(tmp_path):
    file = proof(tmp_path, 'model="ccac"', f'model="{model(tmp_path, CONFLICT)}"')
    code, out, err = run("prove", QDEL, "--proof", file, "--out", tmp_path, "--json")
    assert code == 2 and "mine.too_much at t=2" in err and len(err.splitlines()) == 1
    assert '"verdict": "holds"' not in out
