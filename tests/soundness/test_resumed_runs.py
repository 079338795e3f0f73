"""Resumption from a run file that anyone may have written: only events that replay confirms count."""

from dataclasses import replace

import pytest

from ccmatic.base import InputError
from ccmatic.networks.traces import Trace
from ccmatic.synthesis import cegis
from ccmatic.synthesis import run_file as store
from support import small_run


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """The file of an honest run, and its events."""
    with pytest.MonkeyPatch.context() as patch:
        small_run.use(patch)
        path = tmp_path_factory.mktemp("small") / "run.db"
        yield path, small_run.make(path)


def resumed(honest, events, folder):
    """Return the last Progress of a synthesis that resumes from these events, and the events in the file then."""
    file = small_run.copy(honest[0], folder / "run.db", events)
    kept = store.Store(file, small_run.query())
    try:
        *_, last = cegis.search(small_run.query(), store=kept)
    finally:
        kept.close()
    return last, store.read_run(file)[1]


def first(honest, kind):
    return next(event for event in honest[1] if event.kind == kind)


def solutions(events):
    return {small_run.kind(event.candidate) for event in events if event.kind == store.SOLUTION}


def test_what_was_learned_is_not_asked_again(honest, tmp_path):
    last, events = resumed(honest, honest[1], tmp_path)
    assert events == honest[1] and last.left == 0
    assert last.iterations == sum(event.kind != store.PROVED for event in events)
    last, events = resumed(honest, honest[1][:4], tmp_path)
    assert solutions(events) == solutions(honest[1]) and events[:4] == honest[1][:4]
    assert len([event for event in events if event.kind == store.PROVED]) == 1


def still(trace):
    """A trace in which nothing is sent or served: no execution of the link, although it would violate the property."""
    columns = {name: (column[0],) * trace.horizon if name in "SK" else column for name, column in trace.columns.items()}
    return replace(trace, columns=columns)


@pytest.mark.parametrize(
    "change, why",
    [
        (lambda event: replace(event, trace=still(Trace.from_json(event.trace)).to_json()), "it breaks ccac."),
        (lambda event: replace(event, trace=None), "it has no trace"),
        (lambda event: replace(event, candidate=(1, 2, 1)), "its source is not that of its candidate"),
        (lambda event: replace(event, way="bad luck"), "the property has no way to fail 'bad luck'"),
        (
            lambda event: replace(
                event, trace=replace(Trace.from_json(event.trace), controller=None, broken=()).to_json()
            ),
            "no controller chose its rates",
        ),
    ],
    ids=["no execution", "no trace", "another candidate", "no way", "any rates"],
)
def test_a_counterexample_that_replay_does_not_confirm_strikes_nothing(change, why, honest, tmp_path):
    forged = change(first(honest, store.COUNTEREXAMPLE))
    with pytest.raises(InputError, match="a counterexample: ") as caught:
        resumed(honest, [forged], tmp_path)
    assert why in caught.value.message and "remove the file to begin anew" in caught.value.message
    assert str(caught.value).startswith(str(tmp_path / "run.db"))


def test_a_way_to_fail_is_ruled_out_again(honest, tmp_path):
    """It was believed that no controller can fail to make progress: each candidate was then a solution."""
    forged = replace(first(honest, store.PROVED), way="no progress")
    _, events = resumed(honest, [forged], tmp_path)
    assert solutions(events) == solutions(honest[1])


def test_an_event_of_no_kind_decides_nothing(honest, tmp_path):
    forged = replace(first(honest, store.SOLUTION), kind="whatever")
    with pytest.raises(InputError, match="counterexample, skipped, undecided or proved, not 'whatever'"):
        resumed(honest, [forged], tmp_path)
