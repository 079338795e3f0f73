"""Candidates without executions: a synthesis skips them, and the check of its run decides them again."""

from dataclasses import replace

import pytest
from ccmatic.templates import aimd

from ccmatic.base import InputError
from ccmatic.contracts import Sketch
from ccmatic.logic.solving import SolverOptions
from ccmatic.questions import query as queries
from ccmatic.synthesis import COUNTEREXAMPLE, SKIPPED, SOLUTION, Progress, check_cover, read_run
from ccmatic.synthesis.cegis import search
from ccmatic.synthesis.reports import SynthesisText
from ccmatic.synthesis.run_file import Store
from support import small_run
from support.cli import lines, run

#: With an infinite buffer, a window that only grows is never as it was. So only `growth = 0` has periodic executions.
TEXT = """
window: bytes = above(0)


def update(window, acked, MSS):
    window = window + growth * MSS


def send(window):
    return window
"""

PERIODIC = {"given": "L[0] == 0", "periodic": "1"}
HOLDS = {"what": "L[T-1] > 0", **PERIODIC}
BROKEN = {"what": "S[T-1] < 1/10", **PERIODIC}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A template of three candidates, under a shipped name."""
    monkeypatch.setattr(aimd, "TEMPLATE", Sketch(TEXT, {"growth": (1, 0, 2)}))


def query(asked):
    """A query about periodic executions."""
    return queries.make("ccac2021", "infinite", 4, property="avoids", thresholds=asked, template="aimd", name="small")


def searched(path, asked):
    """The last progress of a search in a file, and the file's events."""
    store = Store(path, query(asked))
    *_, now = search(query(asked), store=store)
    store.close()
    return now, read_run(path)[1]


def checked(path, tmp_path, events, verify=False):
    """The report on a copy of a run with these events."""
    events = [replace(event, number=number) for number, event in enumerate(events, 1)]
    return check_cover(
        small_run.copy(path, tmp_path / "copy.db", events, finished=str(len(events))), verify_solutions=verify
    )


@pytest.mark.parametrize("asked, decided", [(HOLDS, SOLUTION), (BROKEN, COUNTEREXAMPLE)])
def test_candidates_without_executions_are_skipped_and_covered(asked, decided, tmp_path):
    now, events = searched(tmp_path / "run.db", asked)
    assert (now.iterations, now.skipped, now.solutions, now.left) == (3, 2, int(decided == SOLUTION), 0)
    assert {event.candidate: event.kind for event in events} == {(0,): SKIPPED, (1,): decided, (2,): SKIPPED}
    report = check_cover(tmp_path / "run.db", verify_solutions=True)
    assert report.covered and report.verified and (report.skipped, report.solutions) == (2, now.solutions)


def test_a_candidate_that_no_event_decides_is_named(tmp_path):
    _, [_, *others] = searched(tmp_path / "run.db", HOLDS)
    report = checked(tmp_path / "run.db", tmp_path, others)
    assert not report.covered and not report.faults and "growth = 1" in report.uncovered


def test_a_skipped_candidate_with_executions_is_found(tmp_path):
    """An untrusted run may hide a candidate by skipping it: either its counterexample or the verifier shows this."""
    _, events = searched(tmp_path / "run.db", HOLDS)
    hidden = [replace(event, kind=SKIPPED) for event in events]
    report = checked(tmp_path / "run.db", tmp_path, hidden)
    assert report.faults == ("event 2, a skipped candidate: the verifier finds an execution of it",)
    _, events = searched(tmp_path / "broken.db", BROKEN)
    [broken] = [event for event in events if event.kind == COUNTEREXAMPLE]
    both = [*events, replace(broken, kind=SKIPPED, trace=None, way=None)]
    report = checked(tmp_path / "broken.db", tmp_path, both)
    assert report.faults[0] == "event 4, a skipped candidate: the counterexample of event 2 breaks it"
    report = checked(tmp_path / "broken.db", tmp_path, [event for event in both if event != broken])
    assert report.faults == ("event 3, a skipped candidate: the verifier finds a trace that breaks it",)


def test_a_solution_without_executions_is_none(tmp_path):
    _, events = searched(tmp_path / "run.db", HOLDS)
    events[0] = replace(events[0], kind=SOLUTION)
    report = checked(tmp_path / "run.db", tmp_path, events, True)
    assert report.faults == ("event 1, a solution: no execution of it satisfies what the property assumes",)


def test_a_timeout_is_no_skipped_candidate(tmp_path):
    searched(tmp_path / "run.db", HOLDS)
    report = check_cover(tmp_path / "run.db", verify_solutions=True, solver=SolverOptions(timeout=1e-6))
    assert report.covered and report.undecided == (1, 3, 2)


def test_conditions_that_no_sender_meets_end_the_search():
    asked = {**HOLDS, "given": "L[0] == 0; S[1] > 1; S[1] < 1"}
    with pytest.raises(InputError, match="has no execution that meets what is given"):
        list(search(query(asked)))


def test_a_search_resumes_after_skipped_candidates(tmp_path):
    searched(tmp_path / "run.db", HOLDS)
    now, events = searched(tmp_path / "run.db", HOLDS)
    assert (now.skipped, now.solutions, now.left, len(events)) == (2, 1, 0, 3)


def test_a_resumed_search_decides_skipped_candidates_again(tmp_path):
    _, events = searched(tmp_path / "run.db", HOLDS)
    hidden = [replace(event, kind=SKIPPED) for event in events]
    copy = small_run.copy(tmp_path / "run.db", tmp_path / "copy.db", hidden, finished="3")
    assert searched(copy, HOLDS)[0].solutions == 1


@pytest.mark.parametrize("solutions, summary", [(0, "0 solutions"), (1, "1 solution")])
def test_a_synthesis_with_timeouts_claims_no_completeness(solutions, summary, capsys):
    with SynthesisText(query(HOLDS)) as report:
        report.update(Progress(iterations=3, candidates=9, solutions=solutions, undecided=2), None)
    assert f"{summary}, 2 undecided: 9 candidates, 3 iterations" in capsys.readouterr().out


def test_commands_count_skipped_candidates(tmp_path):
    conditions = "".join(f'{name} = "{value}"\n' for name, value in HOLDS.items())
    network = '[network]\nmodel = "ccac2021"\nbuffer = "infinite"\nhorizon = 4\n'
    template = '[template]\nname = "aimd"\n'
    (tmp_path / "small.toml").write_text(f'{network}[property]\nname = "avoids"\n{conditions}{template}')
    code, out, _ = run("synth", "small.toml", "--run", "run.db", cwd=tmp_path)
    assert code == 0 and "one of each class that has one, 2 skipped, without executions: 3 candidates" in out
    code, out, _ = run("synth", "small.toml", "--run", "run.db", "--json", cwd=tmp_path)
    assert code == 0 and lines(out)[-1]["skipped"] == 2
    code, out, _ = run("runs", "run.db", "--json", cwd=tmp_path)
    assert code == 0 and lines(out)[-1]["skipped"] == 2
    code, out, _ = run("check-cover", "run.db", cwd=tmp_path)
    assert code == 0 and "0 counterexamples replayed, 2 skipped, without executions; no class has a solution but" in out
    assert "    the solutions are trusted; --verify-solutions verifies them again" in out
    code, out, _ = run("check-cover", "run.db", "--json", "--verify-solutions", cwd=tmp_path)
    assert code == 0 and lines(out)[-1]["skipped"] == 2
