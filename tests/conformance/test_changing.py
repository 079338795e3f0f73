"""Paths that change once (docs/reference/encoding.md, section 4): packets obey the laws; questions about them."""

from fractions import Fraction
from itertools import accumulate
from random import Random

import pytest

import ccmatic as cm
from ccmatic.answers.verification import Outcome
from ccmatic.base import InputError
from ccmatic.contracts.execution import following
from ccmatic.deployment.emulation import pipeline, replay
from ccmatic.networks.simulation import Path, PathChange, Simulation
from support import window_runs
from support.believing import ANYONE
from support.changing_paths import broken, model_of, run_of
from support.emulated_path import carried
from support.machine import needs_compiler
from support.sampling import each_nth


@needs_compiler
def test_runs_obey_the_laws():
    assert set().union(*(broken(seed) for seed in range(20))) == set()


@needs_compiler
@pytest.mark.slow
def test_ten_thousand_runs_obey_the_laws():
    assert set().union(*(broken(seed) for seed in range(10_000, 20_000))) == set()


def later(name, factor):
    """A patch of PathChange: an instant that comes an R_m later."""
    method = getattr(PathChange, name)
    return lambda self, path: method(self, path) + factor * path.step


def segments(**fields):
    """A patch of PathChange: other segments of the link's rate than stated."""
    method = PathChange.segments

    def patched(self, path):
        found = method(self, path)
        for name, value in fields.items():
            setattr(found[-1], name, value(getattr(found[-1], name), path))
        return found

    return patched


#: Faults of simulated changes, by the attribute of PathChange that has them.
FAULTS = {
    "comes outside its instant": {"instant": later("instant", 1)},
    "longer than stated": {"segments": segments(time=lambda time, path: time + path.step)},
    "lost queue": {"segments": segments(flush=lambda flush, path: 1)},
    "kept queue": {"segments": segments(flush=lambda flush, path: 0)},
    "old rate": {"segments": segments(bytes=lambda rate, path: path.packet)},
    "old buffer": {"segments": segments(buffer=lambda room, path: 0)},
    "longer propagation": {"delay": later("delay", 1)},
    "no longer propagation": {"delay": lambda self, path: 0},
}


@needs_compiler
@pytest.mark.parametrize("fault", each_nth(3, FAULTS))
def test_a_planted_fault_breaks_a_law(fault, monkeypatch):
    for name, patch in FAULTS[fault].items():
        monkeypatch.setattr(PathChange, name, patch)
    assert any(broken(seed) for seed in range(60))


@needs_compiler
def test_an_execution_breaks_the_laws_of_other_changes():
    """A shorter outage than the real one, and another instant."""
    recorded, change, begin, jittery = next(run for run in map(run_of, range(40)) if run[1].outage > 1)
    for other in ({"outage": str(change.outage - 1)}, {"at": str(change.at - begin + 1)}):
        assert window_runs.broken(recorded, model_of(change, begin, jittery, **other), int(jittery))
    assert not window_runs.broken(recorded, model_of(change, begin, jittery, at="any", outage="9"), int(jittery))


@needs_compiler
def test_a_link_that_does_not_plan_ahead_has_no_change():
    with pytest.raises(InputError, match="the link of ccac has no changes that are known in advance"):
        run_of(0, True, "ccac")


@needs_compiler
def test_a_planned_change_excludes_another_rate():
    path = Path("ideal", Fraction(1500 * 80), 1, 1500, 0, 1500 * 80)
    simulation = Simulation(path, rates=[Fraction(1500 * 40)], change=PathChange(Fraction(2), rate=Fraction(1, 2)))
    with pytest.raises(InputError, match="expected a Simulation without `change`"):
        simulation.change_rate(Fraction(1500 * 40))


def served(rates, work):
    """The first instant, in whole ns, by which a link has served some bytes."""
    for (begin, bits), (end, _) in zip(rates, [*rates[1:], (10**18, 0)], strict=True):
        if bits and work <= carried(rates, end):
            return begin + -((carried(rates, begin) - work) * 8 * 10**9 // bits)
    raise AssertionError


def decided(link, arrivals, sizes):
    """The packets' fates by exact arithmetic: (lost, admitted, planned)."""
    change, work, kept = link.change, Fraction(0), Fraction(0)
    for now, size in zip(arrivals, sizes, strict=True):
        if change.loses and now > change.at:
            work = min(work, kept)
        room = change.buffer if now > change.at else link.buffer
        begin = max(work, carried(link.rates, now))
        if begin + size - carried(link.rates, now) > room:
            yield True, -1, -1
            continue
        work = begin + size
        admitted = served(link.rates, work)
        if change.loses and now <= change.at < admitted:
            yield True, -1, -1
            continue
        kept = work
        yield False, admitted, admitted + link.rtt + (change.extra if admitted > change.at else 0)


@needs_compiler
@pytest.mark.parametrize("queue", ["kept", "lost"])
def test_the_emulated_link_decides_as_exact_arithmetic_does(queue):
    """On packets of any sizes."""
    fates = set()
    for seed in range(12):
        rng = Random(seed)
        change = rng.choice(("rtt x2", "rate x1/2", "rtt x3 rate x2 buffer x1/2", "buffer x2"))
        outage = rng.choice(("", ", outage 1/2 rtt", ", outage 3 rtt"))
        link = pipeline._link(on=f"12 mbit, rtt 40 ms, buffer 15 kb, change {change}{outage}, queue {queue}, at 1 rtt")
        steps = (0, 1, 10**6, 10**6 - 1, rng.randint(0, 2 * 10**6))
        arrivals = list(accumulate(rng.choice(steps) for _ in range(300)))
        arrivals = sorted([*arrivals, 40 * 10**6, 40 * 10**6 + 1, link.change.at, link.change.at + 1])
        sizes = [rng.choice((1500, 1500, rng.randint(40, 1500))) for _ in arrivals]
        expected = list(decided(link, arrivals, sizes))
        assert replay.decisions(link, arrivals, sizes) == expected
        fates |= {(lost, planned - admitted) for lost, admitted, planned in expected}
    assert len(fates) > 3


def answered(controller, network, expectation, **more):
    found = cm.answer(cm.ask(controller, network, expectation, **{"start": "converged", **more}))
    if found.verdict == "violated":
        assert cm.replay(found.trace).outcome is Outcome.BREAKS
    return found


@pytest.mark.parametrize(
    "network, expectation, verdict",
    each_nth(
        2,
        [
            ("ideal, buffer infinite, outage 1 rtt", "recovery <= 1 rtt", "holds"),
            ("ideal, buffer infinite, change rtt x2", "recovery <= 4 rtt to 40% over every 2 rtt", "violated"),
            ("ideal, buffer infinite, change rtt x2", "recovery <= 4 rtt to 25% over every 2 rtt", "holds"),
            ("ideal, buffer infinite, change rate x1/2", "delay <= 2 rtt", "violated"),
            ("ideal, buffer infinite, change rate x1/2", "delay <= 4 rtt", "holds"),
            ("ideal, buffer infinite, change rate x1..2", "delay <= 3 rtt", "holds"),
            ("ideal, buffer infinite, outage 2 rtt", "queue <= 1 bdp", "violated"),
            ("ideal, buffer infinite, outage 2 rtt, at 6 rtt", "delay <= 1 rtt", "violated"),
            ("24 mbit, rtt 40 ms, buffer infinite, outage 80 ms, at 40..80 ms", "recovery <= 160 ms", "holds"),
            ("ccac, buffer 1 bdp, outage 1 rtt", "recovery <= 4 rtt to 10%", "violated"),
            ("ccac, buffer 1 bdp, outage 1 rtt, queue lost", "no timeout", "violated"),
        ],
    ),
)
def test_questions_about_changing_paths(network, expectation, verdict):
    assert answered("aimd", network, expectation).verdict == verdict


def test_no_path_serves_in_an_outage_and_each_resumes():
    """The laws at an outage of exactly 2 R_m after 1 R_m, whatever is sent."""
    longest = cm.Network("changing_windows:waste=constant-rate,D=0,outage=2,at=1", "infinite", 6)
    during = cm.worst("constant_window", longest, of="S[3] - S[1] > x * C", given="P[4] == 1", high=2)
    assert during.none == 0
    after = cm.worst("constant_window", longest, of="G[5] - G[0] < x * C", high=6)
    assert after.none == 3


def edge(controller, network, expectation, start="converged"):
    return cm.worst(cm.ask(controller, network, expectation, start=start))


def test_the_edge_of_a_recovery_has_two_sides():
    found = edge("aimd", "ideal, buffer infinite, change rate x2", "recovery <= 3 rtt to 80%")
    assert found.verdict == "found"
    assert found.some is not None and (found.none is None or found.none - found.some <= Fraction(1, 10))


def test_a_search_that_its_horizon_cuts_has_one_side():
    found = edge("aimd", "ideal, buffer infinite, change rate x2", "recovery <= 2 rtt to 90%", "start")
    assert found.none is None and found.some == 2
    assert "no worse value was tried" in found.sentence()


def test_a_recovery_is_never_decided_on_a_trace_too_short_for_it():
    network = "ideal, buffer infinite, outage 1 rtt"
    with pytest.raises(InputError, match="the horizon is 7; the question needs at least 8 steps"):
        cm.ask("aimd", network, "recovery <= 4 rtt", horizon=7)
    assert cm.ask("aimd", network, "recovery <= 4 rtt", horizon=8).query.horizon == 8


def test_a_monitor_measures_the_recovery_that_the_formula_bounds():
    """On a trace whose worst recovery is an edge."""
    found = edge("aimd", "ideal, buffer infinite, change rtt x2", "recovery <= 3 rtt to 40% over every 2 rtt")
    judged = cm.measure(found.trace, "recovery <= 3 rtt to 40% over every 2 rtt")
    assert judged.value >= found.some
    assert judged.verdict == "not met"
    assert cm.measure(found.trace, "recovery <= 9 rtt to 40% over every 2 rtt").verdict == "met"


#: The network with the beliefs of a network that does not change.
BELIEVING = """
from ccmatic.models.ccac2021 import CCAC2021
from ccmatic.models.changing_windows import ChangingWindows

class Believing(ChangingWindows):
    @property
    def observations(self):
        return CCAC2021.observations.fget(self)

MODEL = Believing()
"""


@pytest.mark.parametrize(
    "belief, change, false", [("C_L", "rate=1/2", "C_L_f[0][T-1] > C / 2"), ("C_U", "outage=2", "C_U_f[0][T-1] < C")]
)
def test_a_change_makes_beliefs_false(belief, change, false, tmp_path):
    """So networks of changing paths do not have them."""
    (tmp_path / "believing.py").write_text(BELIEVING)
    network = cm.Network(f"{tmp_path}/believing.py:{change}", "1", 7, delay="executions")
    query = cm.Query(network, "avoids", what=false, given="P[4] > 0")
    answered = cm.verify(query.read_controller(ANYONE.format(believed=belief)), query)
    assert answered.verdict == "violated"
    assert cm.replay(answered.trace, allow_code=True).outcome is Outcome.BREAKS


def test_controllers_that_read_beliefs_are_refused():
    with pytest.raises(InputError, match="unknown parameter `C_L`"):
        cm.ask("aimd_believing", "ideal, buffer 1 bdp, outage 1 rtt", "queue <= 1 bdp")
    with pytest.raises(InputError, match="a change makes beliefs about the path false"):
        cm.ask("cc_qdel", "ideal, buffer 1 bdp, outage 1 rtt", "queue <= 1 bdp")


def test_executions_of_a_changing_path_do_not_repeat_and_have_no_next_window():
    with pytest.raises(InputError, match="changes once, so no execution repeats itself; expected no period"):
        cm.answer(cm.ask("aimd", "ideal, buffer 1 bdp, outage 1 rtt", "queue <= 1 bdp", period=2))
    query = cm.Query(cm.Network("changing_windows:outage=1", "1", 4), "avoids", what="T < 0")
    with pytest.raises(InputError, match="may be the same in each window"):
        following(query.model, query.execution())


@pytest.mark.parametrize(
    "part, message",
    [
        ("outage 1 rtt", "the emulator needs one above 0, such as 'at 10 s'"),
        ("change rate x1..2, at 1 s", "changes by any factor of a range; the emulator needs one, such as 'x2'"),
        ("outage 1 rtt, at 1..2 s", "the emulator needs one above 0, such as 'at 10 s'"),
    ],
)
def test_what_no_emulator_plays_is_refused(part, message):
    with pytest.raises(InputError, match=message):
        pipeline._link(on=f"24 mbit, rtt 40 ms, buffer 1 bdp, {part}")
