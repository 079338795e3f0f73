"""`--timeout` bounds a question from its encoding to its answer. Whatever is undecided then is unknown."""

import itertools
import shutil
import time
from importlib import import_module

import pytest

import ccmatic as cm
from ccmatic import controllers as cca
from ccmatic.answers import worst_case
from ccmatic.answers.verification.judgement import Judge
from ccmatic.answers.verification.verifier import UNDECIDED
from ccmatic.base import Clock, OutOfTime
from ccmatic.contracts import columns
from ccmatic.logic.solving import Checker, SolverOptions
from ccmatic.proving import prover as prove
from ccmatic.questions import query
from support import ROOT
from support.cli import lines, run
from support.machine import watched
from support.sampling import each_nth

pytestmark = pytest.mark.real_time

LONG = ["--model", "ccac", "--buffer", "any", "--horizon", "200"]
TEMPLATE = '[network]\nmodel = "ccac"\nbuffer = "any"\nhorizon = 200\n[template]\nname = "two_branches"\n'


def test_a_long_encoding_ends_in_time(tmp_path):
    begin = time.monotonic()
    with watched() as late:
        code, out, err = run("verify", "cc_qdel", "always_double", *LONG, "--timeout", "1", "--json", cwd=tmp_path)
    assert (code, err) == (3, "")
    assert [line["verdict"] for line in lines(out)] == ["unknown"] * 2
    assert all(1 <= line["seconds"] < 2.5 + max(late) / 1000 for line in lines(out))
    assert time.monotonic() - begin < 10 + max(late) / 1000


def test_the_laws_of_a_sender_are_encoded_in_time(tmp_path):
    """Its state, which repeats itself after eight steps, takes 20 s to encode."""
    asked = ["verify", "illinois", "--on", "cbr_delay_own_jitter, buffer infinite", "--period", "8"]
    with watched() as late:
        code, out, err = run(*asked, "--expect", "share >= 1%", "--timeout", "1", "--json", cwd=tmp_path)
    [line] = lines(out)
    assert (code, err, line["verdict"]) == (3, "", "unknown")
    assert 1 <= line["seconds"] < 3 + max(late) / 1000
    assert line["advice"][0].startswith("a shorter period than 8, or a longer timeout: the encoding timed out")


@pytest.mark.slow
def test_an_edge_says_that_the_encoding_timed_out():
    network = cm.Network("cbr_delay_own_jitter", "infinite", 17)
    found = cm.worst("illinois", network, "share", period=8, at="1/100", solver=SolverOptions(timeout=0.5))
    assert found.verdict == "unknown" and "the encoding timed out" in found.advice[0]


@pytest.mark.slow
def test_a_solver_that_times_out_is_no_encoding_that_does():
    """Also if another way to fail is then not encoded any more."""
    asked = cm.Query(cm.Network("ccac2021", "1", 30), "avoids", what="S[-1] - S[0] < C")
    judgement = Judge(asked, SolverOptions(timeout=1.5)).judge(asked.controller("cubic"))
    assert judgement.verdict == UNDECIDED and "the encoding timed out" not in " ".join(judgement.advice)


def test_a_clock_is_late_until_a_solver_gets_the_question():
    for encoded in (False, True):
        clock = Clock(0.01)
        with pytest.raises(OutOfTime), clock.question():
            if encoded:
                assert clock.left_to_solve() <= 0.01
            time.sleep(0.02)
            clock.left()
        assert clock.late is not encoded
        with clock.question():
            assert not clock.late


@pytest.mark.slow
def test_synthesis_of_what_cannot_be_put_in_time_ends(tmp_path):
    (tmp_path / "long.toml").write_text(TEMPLATE)
    begin = time.monotonic()
    with watched() as late:
        code, _, err = run("synth", "long.toml", "--timeout", "2", "--json", cwd=tmp_path)
    assert (code, err.count("\n")) == (3, 1) and "the time is over" in err
    assert time.monotonic() - begin < 10 + max(late) / 1000


@pytest.mark.parametrize("horizon, seconds", each_nth(2, [(100, 1), (10, 0.01)]))
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
    """Neither accepted nor rejected. A certificate rules out windows that break a lemma; it shows no window."""
    shutil.copy(ROOT / "results/proofs/cc_qdel_T10.json", tmp_path)
    shutil.copytree(ROOT / "results/proofs/cc_qdel_T10-traces", tmp_path / "cc_qdel_T10-traces")
    certificate = "cc_qdel_T10-certificates/C_L_too_high_progresses.json.gz"
    (tmp_path / certificate).parent.mkdir()
    shutil.copy(ROOT / "results/proofs" / certificate, tmp_path / certificate)
    code, out, err = run("check", "cc_qdel_T10.json", "--timeout", "0.001", "--json", cwd=tmp_path)
    *findings, summary = lines(out)
    assert (code, err, summary["verdict"], summary["accepted"]) == (3, "", "unknown", False)
    assert {finding["fault"] for finding in findings} == {None, "no answer in time"}
    (certified,) = (finding for finding in findings if finding["how"].startswith("certificate of"))
    assert certified["fault"] == "no answer in time"


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
        judge._clock.seconds = 60
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


def test_a_clock_of_cpu_seconds_does_not_count_other_work():
    clock = Clock(0.2, time.process_time)
    with clock.question():
        time.sleep(0.3)
        assert clock.left() > 0.1


def ticking():
    """A clock on which a second passes each time that somebody looks at it."""
    return itertools.count().__next__


def counted(monkeypatch, owner, name):
    """Count the calls of a function, in a list."""
    calls, function = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *given, **named: calls.append(given) or function(*given, **named))
    return calls


@pytest.mark.parametrize("find", [cm.answer, cm.worst])
@pytest.mark.parametrize("controller, more", [("bbr", {}), ("cubic", {"horizon": 60}), ("vegas", {"period": 4})])
def test_without_time_no_solver_is_asked_and_no_delay_encoded(monkeypatch, find, controller, more):
    """The unknowns of the delays grow with the square of the horizon."""
    question = cm.ask(controller, "ccac, buffer 1 bdp", "delay <= 2 rtt", **more)
    checks, unknowns = counted(monkeypatch, Checker, "check"), counted(monkeypatch, columns, "boolean")
    found = find(question, solver=SolverOptions(timeout=Clock(0.5, ticking())))
    assert found.verdict == "unknown" and found.left_out == ()
    assert not checks and len(unknowns) < question.query.horizon**2 / 2


def test_without_time_no_period_is_tried(monkeypatch):
    searches = counted(monkeypatch, worst_case, "search")
    monkeypatch.setattr(import_module("ccmatic.answers.starvation.search"), "monotonic", ticking())
    found = cm.starve("vegas", solver=SolverOptions(timeout=0.5))
    assert found.verdict == "unknown" and not searches
    assert {attempt.why for attempt in found.attempts} == {"timed out"}


def test_a_solver_stops_as_soon_as_its_cpu_seconds_are_spent():
    asked = cm.Query(cm.Network("ccac2021", "1", 30), "avoids", what="S[-1] - S[0] < C")
    begin = time.process_time()
    judgement = Judge(asked, SolverOptions(timeout=Clock(1.5, time.process_time))).judge(asked.controller("cubic"))
    assert judgement.verdict == UNDECIDED
    assert 1.5 <= time.process_time() - begin < 3
