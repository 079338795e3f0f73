"""Synthesis of controllers that remember: a sketch's candidates are decided as the verifier decides each alone."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from ccmatic.templates import aimd

from ccmatic.answers.verification import HOLDS, VIOLATED, Outcome, Verifier, check_trace
from ccmatic.answers.verification import verifier as verifier_module
from ccmatic.base import InputError
from ccmatic.contracts import Sketch
from ccmatic.controllers import Stateful
from ccmatic.networks.traces import Trace
from ccmatic.questions import query as queries
from ccmatic.synthesis import COUNTEREXAMPLE, SOLUTION, check_cover, read_run, replays
from ccmatic.synthesis.cegis import search
from ccmatic.synthesis.run_file import Store
from support import small_run
from support.cli import run

#: Two pieces of state: how long the window has grown, and the window, which falls only if that is long enough.
TEXT = """
window: bytes = above(0)
grown: number = 0


def update(window, grown, lost, step, MSS):
    if lost > lost[step] and grown >= patience:
        window = window / 2
        grown = 0
    else:
        window = window + MSS
        grown = grown + stride


def send(window):
    return window
"""
SMALL = Sketch(TEXT, {"patience": (1, 2, 9), "stride": ("1/2", 1, 2)})

ASKED = {"what": "L[T-1] > 1/2", "given": "L[0] == 0; A[0] == 0; alpha == 1/10; c_f[0][0] <= 1"}


@pytest.fixture(scope="module", autouse=True)
def small(tmp_path_factory):
    """The file of a run of the small sketch, under a shipped name, and its events."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aimd, "TEMPLATE", SMALL)
        path = tmp_path_factory.mktemp("small") / "run.db"
        store = Store(path, query())
        solutions = [now.controller for now in search(query(), store=store) if now.controller]
        store.close()
        assert solutions and all(isinstance(each, Stateful) for each in solutions)
        yield path, read_run(path)[1]


def query():
    """The query about the small sketch."""
    return queries.make("ccac2021", "1", 6, property="avoids", thresholds=ASKED, template="aimd", name="small")


def everyone():
    """The candidates, by their indices."""
    return set(product(*(range(len(hole)) for hole in SMALL.holes())))


@pytest.fixture(scope="module")
def verdicts(small):
    """The verdict on each candidate, verified alone."""
    reads, sample = query().read_by_candidates()
    state = query().read_controller(sample).state
    verifier = Verifier(query(), reads, state=state)
    return {each: verifier.verify(query().read_controller(SMALL.candidate(each))).verdict for each in everyone()}


def of_kind(events, kind):
    """The events of a kind."""
    return [event for event in events if event.kind == kind]


def test_solutions_are_those_of_the_verifier_asked_each(small, verdicts):
    found = {event.candidate for event in of_kind(small[1], SOLUTION)}
    assert found == {each for each, verdict in verdicts.items() if verdict == HOLDS}
    assert 0 < len(found) < len(everyone()) and {*verdicts.values()} == {HOLDS, VIOLATED}


def test_a_strike_is_a_counterexample_of_each_that_it_strikes(small, verdicts):
    """More than one at a time; each with what it would have remembered itself."""
    asked, own, struck = query(), 0, {}
    for event in of_kind(small[1], COUNTEREXAMPLE):
        trace = Trace.from_json(event.trace)
        strike = replays.Replay(asked, trace)
        struck[event.candidate] = {each for each in everyone() if strike.strikes(SMALL, each)}
        assert event.candidate in struck[event.candidate]
        for each in struck[event.candidate]:
            controller = asked.read_controller(SMALL.candidate(each))
            remembered, _ = controller.followed(asked.observed(trace, state=controller.state).flows[0])
            rerun = replace(trace, controller=controller.source).with_columns(**remembered)
            assert check_trace(asked, rerun).outcome is Outcome.BREAKS and verdicts[each] == VIOLATED
            own += remembered["grown"] != list(trace.columns["grown"])
    assert own > 0 and max(map(len, struck.values())) > 1
    assert len(struck) < sum(verdict == VIOLATED for verdict in verdicts.values())


def test_what_was_seen_differently_is_not_struck(small):
    """Another window than the trace's, or another first state than it allows, is no counterexample."""
    event = of_kind(small[1], COUNTEREXAMPLE)[0]
    trace = Trace.from_json(event.trace)
    source = SMALL.candidate(event.candidate)
    assert replays.breaks(query(), trace, query().read_controller(source))
    for edit in (("window + MSS", "window + MSS / 2"), ("grown: number = 0", "grown: number = 1")):
        assert edit[0] in source
        assert not replays.breaks(query(), trace, query().read_controller(source.replace(*edit)))


def test_the_run_is_covered(small):
    path, events = small
    report = check_cover(path, verify_solutions=True)
    assert report.covered and report.verified and report.method == "enumeration"
    assert (report.solutions, report.counterexamples) == (
        len(of_kind(events, SOLUTION)),
        len(of_kind(events, COUNTEREXAMPLE)),
    )


def forged(small, tmp_path, change):
    """The report on the run with other events."""
    path, events = small
    events = [replace(event, number=number) for number, event in enumerate(change(list(events)), 1)]
    return check_cover(small_run.copy(path, tmp_path / "forged.db", events, finished=str(len(events))))


def without_first(kind):
    """The events but for the first of a kind."""
    return lambda events: [event for event in events if event is not of_kind(events, kind)[0]]


@pytest.mark.parametrize("kind", [SOLUTION, COUNTEREXAMPLE])
def test_what_nothing_decides_is_missed(small, tmp_path, kind):
    gone = of_kind(small[1], kind)[0].candidate
    report = forged(small, tmp_path, without_first(kind))
    assert not report.covered and not report.faults and "window: bytes = above(0)" in report.uncovered
    assert kind == COUNTEREXAMPLE or report.uncovered == SMALL.candidate(gone)


def test_a_solution_that_is_broken_is_none(small, tmp_path):
    def called_solved(events):
        place = events.index(of_kind(events, COUNTEREXAMPLE)[0])
        solved = replace(events[place], kind=SOLUTION, trace=None, way=None)
        return [*events, solved]

    report = forged(small, tmp_path, called_solved)
    assert not report.covered and "breaks it" in report.faults[0]


@pytest.mark.parametrize("column", ["grown", "window", "cwnd", "L", "W"])
def test_a_counterexample_that_was_changed_strikes_nothing(small, tmp_path, column):
    def changed(events):
        place = events.index(of_kind(events, COUNTEREXAMPLE)[0])
        trace = Trace.from_json(events[place].trace)
        values = tuple(value + Fraction(1, 7) for value in trace.columns[column])
        events[place] = replace(events[place], trace=trace.with_columns(**{column: values}).to_json())
        return events

    report = forged(small, tmp_path, changed)
    assert not report.covered and "a counterexample: it breaks" in report.faults[0]


def test_another_source_or_another_sketch_is_told(small, tmp_path, monkeypatch):
    report = forged(small, tmp_path, lambda events: [replace(events[0], source=SMALL.candidate((2, 2))), *events[1:]])
    assert "its source is not that of its candidate" in report.faults[0]
    monkeypatch.setattr(aimd, "TEMPLATE", Sketch(TEXT.replace("window / 2", "window / 4"), SMALL.numbers))
    with pytest.raises(InputError, match="the template has changed since the run"):
        check_cover(small[0])


def test_a_run_goes_on_where_it_was(small, tmp_path):
    path, events = small
    half = small_run.copy(path, tmp_path / "half.db", events[: len(events) // 2])
    store = Store(half, query())
    list(search(query(), store=store))
    store.close()
    whole, found = ({e.candidate for e in of_kind(each, SOLUTION)} for each in (events, read_run(half)[1]))
    assert check_cover(half).covered and found == whole


REFUSED = [
    ("aimd", "ccac", {}, "the template aimd does not fit ccac: it sends by a window"),
    ("two_branches", "ccac2021", ASKED, "the template two_branches does not fit ccac2021: "),
]


@pytest.mark.parametrize("template, model, thresholds, told", REFUSED, ids=["with state", "of beliefs"])
def test_a_template_of_the_other_kind_is_refused(template, model, thresholds, told):
    with pytest.raises(InputError, match=told):
        queries.make(model, "1", 6, property="avoids" if thresholds else None, thresholds=thresholds, template=template)


@pytest.mark.parametrize(
    "text, numbers, told",
    [
        (TEXT, {"patience": (1,), "stride": (1,), "gain": (2,)}, "leaves `gain` open"),
        (TEXT, {"patience": (), "stride": (1,)}, "no numbers for `patience`"),
        (TEXT, {"patience": ("many",), "stride": (1,)}, "many"),
        (TEXT, {"patience": range(200), "stride": range(1, 200)}, "39,800 candidates; expected at most 10,000"),
    ],
)
def test_a_sketch_that_is_none_is_refused(text, numbers, told):
    with pytest.raises(InputError, match=told):
        Sketch(text, numbers)


@pytest.mark.parametrize(
    "text, numbers, told",
    [
        (TEXT, {"stride": (1,)}, "patience"),
        (TEXT.replace("+ MSS", "+ stride"), {"patience": (1,), "stride": (1,)}, "does not fit ccac2021: .*bytes"),
        (TEXT.replace("window / 2", "window / stride"), {"patience": (1,), "stride": (1, 0)}, "0"),
        (TEXT.replace("def send", "def sends"), SMALL.numbers, "found function `sends`"),
    ],
    ids=["left open", "units", "by zero", "no controller"],
)
def test_candidates_are_checked_as_controllers_are(monkeypatch, text, numbers, told):
    monkeypatch.setattr(aimd, "TEMPLATE", Sketch(text, numbers))
    with pytest.raises(InputError, match=told):
        query()


def test_the_command_writes_controllers_that_verify(tmp_path):
    asked = {"network": {"model": "ccac2021", "buffer": "1", "horizon": "6"}, "property": {"name": "avoids", **ASKED}}
    sections = {**asked, "template": {"name": "aimd"}}.items()
    text = "".join(f"[{name}]\n" + "".join(f'{k} = "{v}"\n' for k, v in keys.items()) for name, keys in sections)
    (tmp_path / "small.toml").write_text(text)
    assert run("synth", "small.toml", cwd=tmp_path)[0] == 0
    written = sorted(tmp_path.glob("small-solutions/*.py"))
    assert written and all(file.read_text().startswith(f'"""{file.stem}: found by ccmatic') for file in written)
    assert run("verify", written[0], "--query", "small.toml", cwd=tmp_path)[0] == 0


def test_two_flows_on_two_processes(monkeypatch):
    """The one of two that waits longer loses more, with two senders; verdicts come from other processes."""
    monkeypatch.setattr(aimd, "TEMPLATE", Sketch(TEXT, {"patience": (1, 2), "stride": (1,)}))
    asked = {"what": "L[T-1] > 1", "given": "L[0] == 0; A[0] == 0; alpha == 1/10; c_f[0][0] + c_f[1][0] <= 1"}
    asked = queries.make("ccac2021_two_flows", "1", 5, property="avoids", thresholds=asked, template="aimd")
    *_, end = made = list(search(asked, jobs=2))
    assert (end.solutions, end.counterexamples, end.left) == (1, 1, 0)
    assert "patience = 1\n" in next(now.controller.source for now in made if now.controller)


#: A sketch whose candidates send the same bytes, in packets of different sizes.
SIZED = Sketch(
    """
    window: bytes = above(0)


    def update(window, acked, MSS):
        window = most * MSS


    def send(window):
        return window
    """,
    {"most": (1, 2, 3, 4, 6, 8, 12)},
)


#: Nothing has been sent, and the first window is small.
START = "L[0] == 0; A[0] == 0; c_f[0][0] <= 1"


def test_a_counterexample_strikes_senders_of_other_packets(monkeypatch, tmp_path):
    """Each sender that it strikes is broken, and some of them only with packets of another size."""
    monkeypatch.setattr(aimd, "TEMPLATE", SIZED)
    thresholds = {"what": "A[T-1] - S[T-1] > 7/4", "given": f"{START}; alpha >= 1/10; alpha <= 1/2"}
    asked = queries.make("ccac2021", "infinite", 4, property="avoids", thresholds=thresholds, template="aimd")
    store = Store(tmp_path / "run.db", asked)
    list(search(asked, store=store))
    store.close()
    reads, sample = asked.read_by_candidates()
    senders = {(index,): asked.read_controller(SIZED.candidate((index,))) for index in range(SIZED.size)}
    state = asked.read_controller(sample).state
    broken = {
        each: Verifier(asked, reads, state=state).verify(sender).verdict == VIOLATED for each, sender in senders.items()
    }
    events = read_run(tmp_path / "run.db")[1]
    assert {event.candidate for event in of_kind(events, SOLUTION)} == {each for each in broken if not broken[each]}
    assert check_cover(tmp_path / "run.db", verify_solutions=True).covered and {*broken.values()} == {True, False}
    struck = [
        (event.candidate, each)
        for event in of_kind(events, COUNTEREXAMPLE)
        for each in senders
        if replays.Replay(asked, Trace.from_json(event.trace)).strikes(SIZED, each)
    ]
    assert all(broken[each] for _, each in struck) and any(first != each for first, each in struck)


def test_a_search_begins_with_the_packets_of_earlier_counterexamples(verdicts):
    """If they show none, the search goes on with any packets."""
    asked = queries.make(
        "ccac2021",
        "1",
        6,
        property="avoids",
        thresholds={**ASKED, "given": ASKED["given"].replace("alpha == 1/10", "alpha >= 1/50; alpha <= 1/5")},
        template="aimd",
    )
    reads, sample = asked.read_by_candidates()
    verifier = Verifier(asked, reads, state=asked.read_controller(sample).state, many=True)
    [part] = verifier._parts
    broken = [asked.read_controller(SMALL.candidate(each)) for each, verdict in verdicts.items() if verdict == VIOLATED]
    first, second = (verifier.verify(each).trace.constants["MSS"] for each in broken[:2])
    assert second == verifier_module._simple(first) == part._sizes[0] and 10 * abs(second - first) <= first
    part._sizes = [Fraction(1, 1000)]
    assert verifier.verify(broken[0]).verdict == VIOLATED and part._sizes[0] > Fraction(1, 50)


@pytest.mark.parametrize(
    "size, simple", [("351675/2198672", "1/6"), ("2/5", "2/5"), ("1/30", "1/28"), ("7", "7"), ("1", "1")]
)
def test_packet_sizes_become_simple(size, simple):
    assert verifier_module._simple(Fraction(size)) == Fraction(simple)
