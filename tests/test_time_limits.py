"""`--timeout` bounds a question from its encoding to its answer; what is not known by then is unknown."""

import shutil
import time

import pytest

from ccmatic import controllers as cca
from ccmatic import query
from ccmatic.base import Clock, OutOfTime
from ccmatic.proving import prover as prove
from ccmatic.solving import SolverOptions
from ccmatic.verification.judgement import Judge
from ccmatic.verification.verifier import UNDECIDED
from support import ROOT
from support.cli import lines, run
from support.machine import watched

pytestmark = pytest.mark.real_time

LONG = ["--model", "ccac", "--buffer", "any", "--horizon", "200"]
TEMPLATE = '[network]\nmodel = "ccac"\nbuffer = "any"\nhorizon = 200\n[template]\nname = "two_branches"\n'


def test_a_long_encoding_ends_in_time(tmp_path):
    begin = time.monotonic()
    with watched() as late:
        code, out, err = run("verify", "cc_qdel", "always_double", *LONG, "--timeout", "2", "--json", cwd=tmp_path)
    assert (code, err) == (3, "")
    assert [line["verdict"] for line in lines(out)] == ["unknown"] * 2
    assert all(2 <= line["seconds"] < 3.5 + max(late) / 1000 for line in lines(out))
    assert time.monotonic() - begin < 10 + max(late) / 1000


def test_synthesis_of_what_cannot_be_put_in_time_ends(tmp_path):
    (tmp_path / "long.toml").write_text(TEMPLATE)
    begin = time.monotonic()
    with watched() as late:
        code, _, err = run("synth", "long.toml", "--timeout", "2", "--json", cwd=tmp_path)
    assert (code, err.count("\n")) == (3, 1) and "the time is over" in err
    assert time.monotonic() - begin < 10 + max(late) / 1000


@pytest.mark.parametrize("horizon, seconds", [(100, 1), (10, 0.01)])
def test_a_lemma_is_unknown_in_time(horizon, seconds):
    """Where its windows take longer to encode, and where the solver does."""
    prover = prove.Prover("cc_qdel", ROOT / "synthesized/cc_qdel.py", horizon, SolverOptions(timeout=seconds))
    values = {constant.name: constant.grid()[0] for constant in prover.proof.constants}
    begin = time.monotonic()
    with watched() as late:
        answer = prover.ask(next(iter(prover.lemmas.values())), values)
    assert answer.verdict == UNDECIDED and answer.trace is None
    assert time.monotonic() - begin < seconds + 1.5 + max(late) / 1000


def test_a_check_without_time_is_unknown(tmp_path):
    """Neither accepted nor rejected; with its certificates, which need no solver, the same proof is accepted."""
    shutil.copy(ROOT / "results/proofs/cc_qdel_T10.json", tmp_path)
    shutil.copytree(ROOT / "results/proofs/cc_qdel_T10-traces", tmp_path / "cc_qdel_T10-traces")
    code, out, err = run("check", "cc_qdel_T10.json", "--timeout", "0.001", "--json", cwd=tmp_path)
    *findings, summary = lines(out)
    assert (code, err, summary["verdict"], summary["accepted"]) == (3, "", "unknown", False)
    assert {finding["fault"] for finding in findings} == {None, "no answer in time"}


def test_what_was_not_encoded_in_time_is_encoded_anew():
    """A verdict is never about a part of the network."""
    asked = query.make("ccac", "infinite", "5")
    judge = Judge(asked, SolverOptions(timeout=60))
    controller = cca.load(ROOT / "synthesized/cc_qdel.py", asked.units())
    expected = judge.judge(controller).verdict
    for seconds in (0.001, 0.005, 0.02, 0.05):
        judge = Judge(asked, SolverOptions(timeout=seconds))
        first = judge.judge(controller).verdict
        assert first in (UNDECIDED, expected)
        judge._clock._seconds = 60
        assert judge.judge(controller).verdict == expected


def test_questions_within_a_question_share_its_time():
    clock = Clock(0.2)
    assert clock.left() == 0.2
    with clock.question():
        time.sleep(0.1)
        with clock.question():
            assert clock.left() < 0.11
        time.sleep(0.11)
        with pytest.raises(OutOfTime):
            clock.left()
    assert clock.left() == 0.2
    assert Clock.of(clock) is clock and Clock().left() is None
