"""A forger edits run files; whatever check-cover accepts is so, by the verifier asked every candidate."""

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccmatic.answers import verification
from ccmatic.answers.verification import replayer as replay
from ccmatic.answers.verification.verifier import Verifier
from ccmatic.base.errors import InputError
from ccmatic.networks.traces.trace import Trace
from ccmatic.questions import query as queries
from ccmatic.synthesis import run_file as store
from support import small_run


@pytest.fixture(scope="module", autouse=True)
def small(tmp_path_factory):
    """The file of an honest run, and its events. Replays and verdicts are cached."""
    answers = {}

    def once(ask, *key):
        if key not in answers:
            answers[key] = ask()
        return answers[key]

    check, verify = replay.check_trace, Verifier.verify

    def check_once(query, trace):
        return once(lambda: check(query, trace), str(query), trace.to_json())

    def verify_once(verifier, controller):
        return once(lambda: verify(verifier, controller), str(verifier.query), controller.source)

    with pytest.MonkeyPatch.context() as patch:
        small_run.use(patch)
        path = tmp_path_factory.mktemp("small") / "run.db"
        events = small_run.make(path)
        patch.setattr(verification, "check_trace", check_once)
        patch.setattr(Verifier, "verify", verify_once)
        yield path, events


class Forgery:
    """A run in the forger's hands: its events, and what it says of itself."""

    def __init__(self, events):
        self.events, self.about, self.query = list(events), {}, None

    def some(self, rng):
        """The place of an event."""
        return rng.randrange(len(self.events))

    def change(self, place, **changes):
        """Another event at a place."""
        self.events[place] = replace(self.events[place], **changes)

    def written(self, path, target):
        """The file; the count of events is right."""
        about = {"finished": str(max(event.number for event in self.events)), **self.about}
        return small_run.copy(path, target, self.events, **about)


def drop(run, rng):
    """Remove an event. The last event, another one, or none takes its number."""
    gone = run.events.pop(run.some(rng))
    if rng.random() < 0.8:
        last = max(range(len(run.events)), key=lambda place: run.events[place].number)
        if run.events[last].number > gone.number:
            run.change(last, number=gone.number)


def duplicate(run, rng):
    """An event twice."""
    number = max(event.number for event in run.events) + 1
    run.events.append(replace(run.events[run.some(rng)], number=number))


def swap(run, rng):
    """Two events in each other's place."""
    one, other = run.some(rng), run.some(rng)
    numbers = run.events[one].number, run.events[other].number
    run.change(one, number=numbers[1])
    run.change(other, number=numbers[0])


def another_candidate(run, rng):
    """Another candidate, mostly with its source, sometimes of no right shape."""
    place = run.some(rng)
    candidate = tuple(rng.randrange(len(hole)) for hole in small_run.TEMPLATE.holes())
    if rng.random() < 0.2:
        broken = (candidate[:1], (*candidate, 0), (9, *candidate[1:]), (-1, *candidate[1:]))
        return run.change(place, candidate=rng.choice(broken))
    source = small_run.source(candidate)
    trace = run.events[place].trace
    if trace and rng.random() < 0.7:
        trace = small_run.resaved(trace, controller=source)
    stated = source if rng.random() < 0.8 else run.events[place].source
    return run.change(place, candidate=candidate, source=stated, trace=trace)


def another_kind(run, rng):
    """A solution for a counterexample, and so on."""
    run.change(run.some(rng), kind=rng.choice(("solution", "counterexample", "undecided", "proved", "decided")))


def another_way(run, rng):
    """Another way to fail."""
    run.change(run.some(rng), way=rng.choice((None, "beliefs turn false", "no progress", "large loss")))


def anothers_trace(run, rng):
    """The trace of another event, perhaps with its candidate's source for a controller."""
    place, other = run.some(rng), rng.choice([event for event in run.events if event.trace] or run.events)
    trace = other.trace
    if trace and rng.random() < 0.5:
        trace = small_run.resaved(trace, controller=rng.choice((None, run.events[place].source)))
    run.change(place, trace=trace)


def changed_trace(run, rng):
    """A number, a column or a constant of a trace, or what it says it breaks."""
    place = run.some(rng)
    if run.events[place].trace is None:
        return
    try:
        trace = Trace.from_json(run.events[place].trace)
    except InputError:
        return  # an edit before made it no trace
    columns, constants = dict(trace.columns), dict(trace.constants)
    name = rng.choice(sorted(columns))
    match rng.randrange(5):
        case 0:
            column, step = list(columns[name]), rng.randrange(trace.horizon)
            column[step] = rng.choice((column[step] + 1, column[step - 1], column[step] / 2, 2 * column[step]))
            columns[name] = tuple(column)
        case 1:
            del columns[name]
        case 2:
            columns[rng.choice(("R_m", "MSS", "C_U", "qdel_L", "beta", "F"))] = columns[name]
        case 3:
            constants[rng.choice(("R_m", "MSS", "C", "D", "C_L"))] = rng.choice((0, 1, 2))
        case 4:
            columns = {column: tuple(value * 2 for value in values) for column, values in columns.items()}
    run.change(place, trace=small_run.resaved(trace.to_json(), columns=columns, constants=constants))


def another_query(run, rng):
    """Another question of the whole run, told by each trace."""
    query = small_run.query().search()
    match rng.randrange(4):
        case 0:
            query["property"]["utilisation"] = rng.choice(("1/100", "1/4", "3/4"))
        case 1:
            query["property"]["inflight_rates"] = rng.choice(("1", "40"))
        case 2:
            query["delay"] = "executions"
        case 3:
            query["horizon"] = "4"
    run.query = query
    run.about["query"] = json.dumps(query)
    record = {key: value for key, value in query.items() if not key.startswith("template")}
    for place, event in enumerate(run.events):
        if event.trace and rng.random() < 0.98:
            run.change(place, trace=small_run.resaved(event.trace, query=record))


EDITS = (
    drop, duplicate, swap, another_candidate, another_kind, another_way, anothers_trace, changed_trace, another_query,
)  # fmt: skip
edits = st.lists(st.tuples(st.sampled_from(EDITS), st.integers(0, 2**32)), min_size=1, max_size=3)


@cache
def classes_that_hold(record):
    """By the verifier, asked every candidate."""
    query = queries.from_record(json.loads(record))
    return frozenset(map(small_run.kind, small_run.holders(query)))


def judge(small, target, chosen, counts):
    """Forge a run and check it: accepted claims are true."""
    path, events = small
    run = Forgery(events)
    for edit, seed in chosen:
        edit(run, Random(seed))
    file = run.written(path, target)
    counts["edited"] += 1
    try:
        report = small_run.check(file)
    except InputError:
        counts["refused"] += 1
        return
    if not report.covered:
        counts["refused"] += 1
        return
    record = json.dumps(run.query or small_run.query().search())
    found = {small_run.kind(event.candidate) for event in run.events if event.kind == store.SOLUTION}
    assert report.solutions == len(found) and found >= classes_that_hold(record), chosen
    verified = small_run.check(file, verify=True)
    assert verified.covered == (found == classes_that_hold(record)), chosen
    counts["accepted, as still true" if verified.covered else "accepted but for solutions that are believed"] += 1


def forge(small, tmp_path, number, capsys):
    counts = Counter()
    repeatably = settings(derandomize=True, deadline=None, max_examples=number, database=None)
    repeatably(given(edits)(lambda chosen: judge(small, tmp_path / "forged.db", chosen, counts)))()
    with capsys.disabled():
        print(f"\nforged runs: {dict(counts)}")
    assert counts["edited"] >= number and counts["refused"] > number / 2 and counts["accepted, as still true"]


def test_no_forged_run_is_accepted(small, tmp_path, capsys):
    forge(small, tmp_path, 25, capsys)


@pytest.mark.slow
def test_no_forged_run_of_thousands_is_accepted(small, tmp_path, capsys):
    forge(small, tmp_path, 3000, capsys)
