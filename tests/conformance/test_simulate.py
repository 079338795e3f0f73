"""The simulator: every execution, sampled once a step, obeys the laws of docs/reference/encoding.md, sections 2 to 5,
exactly."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccmatic.base.errors import InputError
from ccmatic.networks.simulation.packets import NEVER
from ccmatic.networks.simulation.paths import HIDING, JITTER, TICKS, Path
from ccmatic.networks.simulation.simulator import Simulation, simulate
from ccmatic.networks.traces.trace import Trace
from support.sampling import each_nth
from support.simulator_laws import broken

KINDS = ("ideal", "cbr_delay", "ccac")
repeatably = settings(derandomize=True, deadline=None, max_examples=100)


def scripted(counts, path):
    """A sender of counts[k] packets in step k."""
    return lambda seen: counts[seen.step] * path.packet / path.propagation


@st.composite
def executions(draw, kind):
    """A run of a path of unit packets, and how to sample it."""
    bdp = draw(st.integers(6, 60))
    fast, slow = st.integers(bdp, 4 * bdp), st.integers(1, bdp)
    even = st.sampled_from([1, bdp - 1, bdp, bdp + 1, 3 * bdp])
    counts = draw(st.lists(st.one_of(fast, slow, even), min_size=8, max_size=16))
    room = draw(st.one_of(st.none(), st.integers(1, 4 * bdp)))
    jitter = 0 if kind == "ideal" else draw(st.integers(1, 2))
    path = Path(kind, rate=bdp, jitter=jitter, buffer=room)
    queue = draw(st.sampled_from([0, 1, bdp, room or 2 * bdp, 5 * bdp]))
    run = simulate(
        path,
        scripted(counts, path),
        len(counts),
        seed=draw(st.integers(0, 2**32)),
        initial_queue=queue,
        jitter=draw(st.sampled_from(sorted(JITTER))),
        hiding=draw(st.sampled_from(sorted(HIDING))),
    )
    start = draw(st.integers(1, len(counts) - 4))
    horizon = draw(st.integers(1, len(counts) + 1 - start))
    return run, run.trace(start, horizon, alpha=Fraction(1, 2 * bdp))


@pytest.mark.parametrize("kind", each_nth(3, KINDS))
def test_executions_obey_the_laws(kind):
    @repeatably
    @given(executions(kind))
    def check(execution):
        assert broken(execution[1]) == []

    check()


@pytest.mark.parametrize("kind", each_nth(3, KINDS))
def test_packets_are_conserved_and_in_order(kind):
    @repeatably
    @given(executions(kind))
    def check(execution):
        run, _ = execution
        path, end, kept = run.path, run.steps * run.path.step, ~run.lost
        delivered = run.released <= end
        assert len(run.sent) == run.lost.sum() + delivered.sum() + (kept & ~delivered).sum()
        assert (run.released[run.lost] == NEVER).all() and (path.room or not run.lost.any())
        for instants in (run.sent, run.started[kept], run.token[kept], run.released[kept]):
            assert (np.diff(instants) >= 0).all()
        through = run.released < NEVER
        sent, token, started, released = (
            column[through] for column in (run.sent, run.token, run.started, run.released)
        )
        assert (sent <= started).all() and (token <= started).all() and (started <= released).all()
        assert (released <= token + path.bound).all()
        assert (np.diff(token) >= TICKS).all()

    check()


@pytest.mark.parametrize("kind", each_nth(3, KINDS))
def test_the_measured_delay_is_at_most_the_true_one(kind):
    @repeatably
    @given(executions(kind))
    def check(execution):
        run, trace = execution
        for t in range(trace.horizon):
            measured = max(0, trace.columns["Q"][t] - run.path.jitter)
            assert measured <= run.queueing_delay(trace.query["simulation"]["start"] + t)[1]

    check()


def test_delay_may_grow_by_two_after_a_step_without_service():
    """Step 2 serves nothing, so its delay stays 0. Then a byte that came two steps ago is served."""
    simulation = Simulation(Path("cbr_delay", rate=10, jitter=1), jitter="none")
    simulation._release = lambda now: now if now <= 10 * TICKS else now + 10 * TICKS
    for count in (25, 1, 1):
        simulation.step(count)
    trace = simulation.run().trace()
    assert trace.columns["S"] == (0, 0, 1)
    assert trace.columns["Q"] == (0, 0, 2)
    assert broken(trace) == []


def test_the_first_byte_may_wait_a_step_longer_than_buffer_and_jitter():
    """The first byte served in (t-1, t] may have left just after t-1; F counts until t all the same."""
    path = Path("cbr_delay", rate=10, jitter=1, buffer=15)
    trace = simulate(path, lambda seen: 20, 6, jitter="latest").trace()
    assert trace.columns["F"] == (0, 1, 2, 2, 3, 3)
    assert max(trace.columns["Q"]) == 2 < trace.constants["beta"] + trace.constants["D"] < 3
    assert broken(trace) == []


def test_a_start_can_be_full_or_empty():
    path = Path("cbr_delay", rate=10, jitter=1, buffer=20)
    full = simulate(path, lambda seen: 10, 6, initial_queue=20).trace()
    assert full.columns["A"][0] - full.columns["L"][0] - full.columns["K"][0] >= Fraction(19, 10)
    empty = simulate(path, lambda seen: 5, 6).trace()
    assert empty.columns["A"][0] - empty.columns["L"][0] == empty.columns["K"][0]


def test_hidden_tokens_count_when_they_were_generated():
    """With a bucket, K runs ahead of admission: tokens that an idle link would lose serve a later burst."""
    path = Path("ccac", rate=10, jitter=1)
    counts = [2, 2, 2, 15, 10, 10]
    tokens = {}
    for hiding in ("never", "always"):
        run = simulate(path, scripted(counts, path), 6, jitter="none", hiding=hiding)
        tokens[hiding] = run.samples["K"].tolist()
    assert tokens["never"] == [0, 2, 4, 6, 16, 26, 36]
    assert tokens["always"] == [0, 4, 6, 16, 26, 36, 41]


@pytest.mark.parametrize(
    "mutate, law",
    [
        (lambda trace: replace(trace, constants={**trace.constants, "D": Fraction(1)}), "jitter"),
        (lambda trace: replace(trace, constants={**trace.constants, "beta": Fraction(1)}), "fits"),
        (lambda trace: trace.with_columns(L=(Fraction(0),) * trace.horizon), "loss"),
        (lambda trace: trace.with_columns(K=tuple(k * 11 / 10 for k in trace.columns["K"])), "token rate"),
        (lambda trace: trace.with_columns(Q=tuple(q + 1 for q in trace.columns["Q"])), "Q"),
        (lambda trace: trace.with_columns(F=tuple(max(f - 1, 0) for f in trace.columns["F"])), "F"),
    ],
)
def test_the_laws_catch_a_false_trace(mutate, law):
    path = Path("cbr_delay", rate=10, jitter=2, buffer=25)
    trace = simulate(path, lambda seen: 20, 9, initial_queue=25, jitter="latest").trace()
    assert broken(trace) == []
    assert law in {name for name, _ in broken(mutate(trace))}


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_decides_the_run(kind):
    def sample(seed):
        path = Path(kind, rate=30, jitter=0 if kind == "ideal" else 2, buffer=40)
        return simulate(path, lambda seen: 20 + 25 * (seen.step % 2), 20, seed=seed).trace()

    assert sample(7) == sample(7)
    assert (sample(7).columns == sample(8).columns) == (kind == "ideal")
    assert Trace.from_json(sample(7).to_json()) == sample(7)


@pytest.mark.parametrize("kind", each_nth(3, KINDS))
def test_a_minute_at_96_megabits(kind):
    path = Path(kind, rate=96e6 / 8, propagation=0.04, packet=1500, jitter=int(kind != "ideal"), buffer=480e3)
    run = simulate(path, lambda seen: 12e6, 1500, initial_queue=240_000)
    assert len(run.sent) == 480_160
    assert run.utilisation(start=5) == pytest.approx(1, abs=1e-3)
    assert run.loss() == 0
    # Half a BDP waits for as long as the link has no spare rate, or no hidden tokens.
    assert 0 <= np.mean(run.delays(start=5)) <= 0.0201
    assert broken(run.trace(700, 12)) == []


def test_a_sender_sees_what_happened():
    path = Path("ideal", rate=1000, propagation=0.01, packet=1, buffer=5)
    seen = []

    def sender(observation):
        seen.append(observation)
        return 2000

    simulate(path, sender, 3)
    assert [o.step for o in seen] == [0, 1, 2]
    assert [o.sent for o in seen] == [0, 20, 40]
    assert [o.delivered for o in seen] == [0, 10, 20]
    assert [o.lost for o in seen] == [0, 0, 5]
    assert seen[0].delay is None and seen[0].rate == 0
    assert Fraction(1, 4) < seen[2].delay <= Fraction(5, 10) and seen[2].rate == 2000


def test_what_is_left_of_a_rate_is_carried_over():
    path = Path("ideal", rate=10)
    run = simulate(path, lambda seen: Fraction(7, 2), 4)
    assert np.diff(run.samples["A"]).tolist() == [3, 4, 3, 4]
    assert np.diff(simulate(path, lambda seen: 0, 3).samples["A"]).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "wrong, says",
    [
        ({"model": "ccca", "rate": 10, "jitter": 1}, "did you mean 'ccac'"),
        ({"model": "ideal", "rate": "fast"}, "rate is 'fast'"),
        ({"model": "ideal", "rate": 10.5}, "whole number"),
        ({"model": "ideal", "rate": 10, "jitter": 1}, "jitter is 1"),
        ({"model": "ccac", "rate": 10}, "jitter is 0"),
        ({"model": "ideal", "rate": 10, "packet": 2, "buffer": 1}, "at least one packet"),
    ],
)
def test_a_bad_path_is_explained(wrong, says):
    with pytest.raises(InputError, match=says):
        Path(**wrong)


def test_bad_requests_are_explained():
    path = Path("ideal", rate=10, buffer=1)
    with pytest.raises(InputError, match="jitter pattern"):
        simulate(path, lambda seen: 1, 1, jitter="burst")
    with pytest.raises(InputError, match="finite"):
        simulate(path, lambda seen: float("nan"), 1)
    run = simulate(path, lambda seen: 1, 3)
    with pytest.raises(InputError, match="steps from 0"):
        run.trace(start=0)
    with pytest.raises(InputError, match="alpha"):
        run.trace()
