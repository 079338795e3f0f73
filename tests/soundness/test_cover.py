"""Invalid decisions that check-cover refuses.

Examples are candidates outside the template, counterexamples for other controllers or none, and false solutions.
"""

from dataclasses import replace

import pytest

from ccmatic.base.errors import InputError
from ccmatic.synthesis import run_file as store
from support import small_run
from support.cli import run


@pytest.fixture(scope="module", autouse=True)
def small(tmp_path_factory):
    """The file of an honest run, and its events."""
    with pytest.MonkeyPatch.context() as patch:
        small_run.use(patch)
        path = tmp_path_factory.mktemp("small") / "run.db"
        yield path, small_run.make(path)


def first(events, kind):
    """The place of the first event of a kind."""
    return next(place for place, event in enumerate(events) if event.kind == kind)


def with_event(small, tmp_path, which, /, **changes):
    """The report on the run with changes to its first event of a kind."""
    path, events = small
    place = first(events, which)
    events = [*events[:place], replace(events[place], **changes), *events[place + 1 :]]
    return small_run.check(small_run.copy(path, tmp_path / "forged.db", events))


def test_the_honest_run_is_covered_and_its_solutions_are_those_of_the_verifier(small):
    path, events = small
    report = small_run.check(path, verify=True)
    found = {small_run.kind(event.candidate) for event in events if event.kind == store.SOLUTION}
    assert report.covered and report.verified and not report.undecided
    assert found == set(map(small_run.kind, small_run.holders(small_run.query()))) and len(found) == report.solutions


CANDIDATES = [(6,), (6, 0), (), (6, 0, 0, 0), (7, 0, 0), (-1, 0, 0), (True, 0, 0), ("6", 0, 0)]


@pytest.mark.parametrize("candidate", CANDIDATES)
@pytest.mark.parametrize("kind", [store.SOLUTION, store.COUNTEREXAMPLE])
def test_a_candidate_of_another_shape_strikes_nothing(small, tmp_path, kind, candidate):
    report = with_event(small, tmp_path, kind, candidate=candidate)
    assert not report.covered and "expected an index for each hole, below 7, 3, 3" in report.faults[0]


def test_a_candidate_that_is_no_list_is_bad_input(small, tmp_path):
    with pytest.raises(InputError, match=r"forged.db: event \d+, candidate: found .*; expected a list"):
        with_event(small, tmp_path, store.SOLUTION, candidate={"0": 6})


@pytest.mark.parametrize("stated", [None, "def rate(C_L):\n    return C_L\n", "no Python", 5])
def test_the_source_is_that_of_the_candidate(small, tmp_path, stated):
    assert not with_event(small, tmp_path, store.SOLUTION, source=stated).covered


def test_a_counterexample_of_nobodys_rates_strikes_nothing(small, tmp_path):
    """The reason is that its beliefs stay true."""
    _, events = small
    trace = small_run.resaved(events[first(events, store.COUNTEREXAMPLE)].trace, controller=None)
    report = with_event(small, tmp_path, store.COUNTEREXAMPLE, trace=trace)
    assert "no controller chose its rates" in report.faults[0] and not report.covered


@pytest.mark.parametrize("changes", [{"trace": None}, {"trace": "{}"}, {"way": "no way"}, {"kind": "another"}], ids=str)
def test_a_counterexample_without_its_evidence_strikes_nothing(small, tmp_path, changes):
    report = with_event(small, tmp_path, store.COUNTEREXAMPLE, **changes)
    assert len(report.faults) == 1 and not report.covered


def test_a_trace_without_a_belief_that_candidates_read_strikes_nothing(small, tmp_path):
    path, events = small
    event = next(e for e in events if e.kind == store.COUNTEREXAMPLE and "qdel_L" not in e.source)
    columns = small_run.Trace.from_json(event.trace).columns
    left = {name: column for name, column in columns.items() if name != "qdel_L"}
    trace = small_run.resaved(event.trace, columns=left)
    events = [replace(e, trace=trace) if e.number == event.number else e for e in events]
    report = small_run.check(small_run.copy(path, tmp_path / "forged.db", events))
    assert "it lacks qdel_L, which candidates read" in report.faults[0]


def test_one_class_is_one_solution(small, tmp_path):
    path, events = small
    again = replace(events[first(events, store.SOLUTION)], number=len(events) + 1)
    report = small_run.check(small_run.copy(path, tmp_path / "forged.db", [*events, again]))
    assert "it has the same class as event" in report.faults[0] and not report.covered


def test_a_solution_that_a_counterexample_breaks_is_none(small, tmp_path):
    path, events = small
    broken = events[first(events, store.COUNTEREXAMPLE)].candidate
    forged = store.Event(store.SOLUTION, broken, small_run.source(broken), number=len(events) + 1)
    report = small_run.check(small_run.copy(path, tmp_path / "forged.db", [*events, forged]))
    assert "breaks it" in report.faults[0] and not report.covered


def falsely_solved(small, target):
    """A run without counterexamples that claims each class as a solution."""
    path, _ = small
    everyone = [(c, a, b) for c in range(7) for a in range(3) for b in range(3)]
    classes = {small_run.kind(candidate): candidate for candidate in everyone}
    solutions = [
        store.Event(store.SOLUTION, candidate, small_run.source(candidate), number=number)
        for number, candidate in enumerate(classes.values(), 1)
    ]
    return small_run.copy(path, target, solutions, finished=str(len(solutions)))


def test_solutions_are_believed_and_it_says_so_unless_they_are_verified_again(small, tmp_path):
    forged = falsely_solved(small, tmp_path / "forged.db")
    believed, verified = small_run.check(forged), small_run.check(forged, verify=True)
    assert believed.covered and not believed.verified
    holders = small_run.holders(small_run.query())
    holding = sum(event.candidate in holders for event in store.read_run(forged)[1])
    assert not verified.covered and len(verified.faults) == believed.solutions - holding > 0


@pytest.mark.parametrize("finished, fault", [("12x", None), ("10" * 9, "is missing")])
def test_a_count_of_events_that_is_none(small, tmp_path, finished, fault):
    path, events = small
    forged = small_run.copy(path, tmp_path / "forged.db", events, finished=finished)
    if fault is None:
        with pytest.raises(InputError, match="expected a number of events"):
            small_run.check(forged)
    else:
        assert fault in small_run.check(forged).faults[0]


def test_a_run_of_no_template_is_bad_input(small, tmp_path):
    path, events = small
    forged = small_run.copy(path, tmp_path / "forged.db", events, query='{"model": "ccac"}')
    code, out, err = run("check-cover", forged, cwd=tmp_path)
    assert (code, out) == (2, "") and "query: expected the key 'horizon'" in err
