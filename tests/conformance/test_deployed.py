"""The controller as deployed: its beliefs are the model's, also after timeouts and on links whose rate changes."""

from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import ceil
from random import Random

import pytest

from ccmatic import controllers as cca
from ccmatic.answers.verification.replayer import check_trace as check
from ccmatic.base.errors import InputError
from ccmatic.networks.simulation.deployed import DeployedController
from ccmatic.networks.simulation.paths import Path
from ccmatic.networks.simulation.simulator import Simulation, simulate
from ccmatic.questions import query as queries
from support import executions
from support.sampling import each_nth

KINDS = ("ideal", "cbr_delay", "ccac")
BDP, PERIOD, STEPS = 20, 9, 100

#: Controllers that move the beliefs that they read.
PROBES = {
    "C_L": "def rate(C_L, C_U, MSS, R_m):\n    if 2*C_L > C_U + 2*MSS/R_m:\n"
    "        return C_L - MSS/R_m\n    return 2*C_L\n",
    "C_Llambda": "def rate(C_Llambda, q_U, MSS, R_m):\n    if q_U > C_Llambda*R_m:\n"
    "        return C_Llambda/2 + MSS/R_m\n    return 3*C_Llambda + MSS/R_m\n",
}


@cache
def deployed(kind, seed, changing=False):
    """A run, its sender, and the units of the beliefs."""
    rng = Random(seed)
    path = Path(kind, rate=BDP, jitter=0 if kind == "ideal" else rng.choice((1, 2)), buffer=rng.choice((None, 12, 60)))
    model = queries.make(kind, "any", PERIOD + 1, jitter=path.jitter).model
    units = {belief.name: belief.unit for belief in model.beliefs}
    controller = cca.parse(PROBES[rng.choice(sorted(PROBES.keys() & units))], beliefs=units)
    first = {"C_L": rng.choice((1, 5, 20)), "C_U": rng.choice((20, 30, 80)), "C_Llambda": rng.choice((1, 5))}
    sender = DeployedController(model, controller, path, PERIOD, first)
    changes = {rng.randint(5, 90): rng.choice((7, 10, 30, 55)) for _ in range(3 if changing else 0)}
    simulation = Simulation(path, seed, initial_queue=rng.choice((0, 30)), rates=changes.values())
    for step in range(1, STEPS + 1):
        simulation.step(sender(simulation.observation))
        if step in changes:
            simulation.change_rate(changes[step])
    return simulation.run(), sender, units


def window_traces(run, sender, units, **options):
    """The traces of the windows in which the rate does not change."""
    for window in sender.windows:
        try:
            yield window, window.trace(run, units, alpha=Fraction(1, 400), **options)
        except InputError as error:
            assert "the rate changes" in str(error)


def faults(run, trace):
    """The names of the laws that a trace breaks."""
    buffer = str(trace.constants.get("beta", "infinite"))
    kind, jitter = trace.query["model"], run.path.jitter
    query = queries.make(kind, buffer, trace.horizon, jitter=jitter, delay="executions")
    return {fault.split(" ")[0].split(".")[1] for fault in check(query, trace.measuring(query.model.measures)).faults}


seeds = pytest.mark.parametrize("seed", each_nth(3, range(6)))
kinds = pytest.mark.parametrize("kind", KINDS)


@kinds
@seeds
def test_beliefs_are_those_of_the_model(kind, seed):
    """By the engine's laws, and by docs/reference/encoding.md in plain Python."""
    run, sender, units = deployed(kind, seed)
    assert len(sender.windows) == (STEPS - 2) // PERIOD
    for _, trace in window_traces(run, sender, units, timed=False):
        stale = {"C_L_holds_at_first", "C_U_holds_at_first", "C_U_starts"}
        assert faults(run, trace) <= stale
        first = {name: trace.columns.get(name, [Fraction(1)])[0] for name in (*executions.BOUNDS, "q_U")}
        delays = [(0, Q + 1) for Q in trace.columns["Q"]]
        plain = executions.beliefs(trace, first, delays)
        assert all(trace.columns[name] == plain[name] for name in units if name != "qdel_U")
        assert all(own >= most for own, most in zip(trace.columns["qdel_U"], plain["qdel_U"], strict=True))


@kinds
@seeds
def test_a_window_begins_with_the_beliefs_at_the_end_of_the_one_before(kind, seed):
    windows = deployed(kind, seed)[1].windows
    for window, after in pairwise(windows):
        assert after.start == window.start + PERIOD
        assert {n: c[0] for n, c in after.beliefs.items()} == {n: c[-1] for n, c in window.beliefs.items()}


@kinds
@seeds
@pytest.mark.parametrize("changing", [False, True])
def test_timeouts_are_those_of_the_encoding(kind, seed, changing):
    run, sender, _ = deployed(kind, seed, changing)
    for window in sender.windows:
        last = {name: window.beliefs[name][-1] for name in window.before_timeout}
        columns = {name: run.samples[name][window.start : window.start + PERIOD + 1].tolist() for name in "ALSF"}
        expected = dict(window.before_timeout) | timed_out(window, columns["S"], run.path.jitter, sender.alpha)
        if kind == "cbr_delay":
            expected |= refuted(window, columns, run.path.jitter, sender.alpha)
        assert last == expected


def timed_out(window, S, D, alpha):
    """docs/reference/encoding.md, section 6, in plain Python."""
    m, M = (window.before_timeout[name] for name in ("C_L", "C_U"))
    C_L, C_U = (window.beliefs[name] for name in ("C_L", "C_U"))
    e = len(S) - 1
    far, crossed = M > 2 * m, M < m
    l_moved, u_moved = m > C_L[0], M < C_U[0]
    l_much, u_much = 10 * m > 11 * C_L[0], 11 * M < 10 * C_U[0]
    low, high = m, M
    if not l_moved and not far and ((u_moved and crossed) or not u_much):
        low = max(alpha, *(Fraction(int(S[e] - S[s]), e - s + D) for s in range(e)))
    if not u_moved and not far and ((l_moved and crossed) or not l_much):
        high = max(low, Fraction(3, 2) * C_U[e - 1])
    return {"C_L": low, "C_U": high}


def refuted(window, columns, D, alpha):
    """C_Llambda and q_U after what no link does on which they are true (models/beliefs/probing.py), in plain Python."""
    A, L, S, F = columns.values()
    known = [None, *L[:-1]]
    e = len(S) - 1
    C, q = ([*window.beliefs[name][:-1], window.before_timeout[name]] for name in ("C_Llambda", "q_U"))
    late = any(
        S[t] > S[t - 1] and F[t] >= d and q[t - d] <= (d - 1 - D) * C[t]
        for t in range(1, e + 1)
        for d in range(D + 2, min(t, F[t]) + 1)
    )
    lossy = any(
        (lost := known[t] - known[t - 1]) > 0 and lost > q[t - 2] + (A[t - 1] - A[t - 2]) - (D + 2) * C[t]
        for t in range(2, e + 1)
    )
    if not (late or lossy):
        return {"C_Llambda": C[e], "q_U": q[e]}
    return {"C_Llambda": max(alpha, C[e] / 2), "q_U": A[e] - known[e] - S[e]}


def test_some_beliefs_are_refuted():
    """And some are not."""
    halved = set()
    for seed in range(6):
        for window in deployed("cbr_delay", seed, True)[1].windows:
            halved.add(window.beliefs["C_Llambda"][-1] < window.before_timeout["C_Llambda"])
    assert halved == {True, False}


def test_the_runs_are_not_trivial():
    """Bounds time out, alone and together, cross, and turn false."""
    seen = set()
    for seed in range(6):
        for window in deployed("ccac", seed, True)[1].windows:
            m, M = (window.before_timeout[name] for name in ("C_L", "C_U"))
            out = [name for name, value in window.before_timeout.items() if value != window.beliefs[name][-1]]
            seen |= {" and ".join(out), "crossed" if M < m else "apart"}
    assert seen == {"", "C_L", "C_U", "C_L and C_U", "crossed", "apart"}


@kinds
@seeds
def test_links_whose_rate_changes_obey_every_law_in_between(kind, seed):
    """The two laws that look back beyond a window ask for as long a time at the new rate."""
    run = deployed(kind, seed, True)[0]
    changes = [step for step, _ in run.changes]
    looking_back = {"served_within_jitter", "Q_fits_buffer", "F_fits_buffer"}
    for start in range(1, STEPS - PERIOD):
        if any(start < step < start + PERIOD for step in changes):
            with pytest.raises(InputError, match="the rate changes"):
                run.trace(start, PERIOD + 1)
            continue
        trace = run.trace(start, PERIOD + 1, alpha=Fraction(1, 400))
        since = min((start - step for step in changes if step <= start), default=STEPS)
        settled = run.path.jitter + 1 + ceil((run.path.room or 0) / 7)
        assert faults(run, trace) <= (looking_back if since < settled else set())


@kinds
def test_a_changed_rate_is_that_of_the_link(kind):
    """Overloaded, it admits just as many packets a step."""
    path = Path(kind, rate=BDP, jitter=int(kind != "ideal"))
    simulation = Simulation(path, rates=[7, 33], initial_queue=50)
    for rate in (20, 7, 33, 20):
        simulation.change_rate(rate)
        for _ in range(4):
            simulation.step(100)
    run = simulation.run()
    assert [b - a for a, b in pairwise(run.samples["K"])] == [20] * 4 + [7] * 4 + [33] * 4 + [20] * 4
    K = run.trace(4, 5).columns["K"]
    assert run.path_within(4, 8).rate == 7 and [k - K[0] for k in K] == [0, 1, 2, 3, 4]


def test_a_rate_that_was_not_announced_is_explained():
    simulation = Simulation(Path("ideal", rate=BDP), rates=[30])
    simulation.change_rate(30)
    with pytest.raises(InputError, match="rate is 17"):
        simulation.change_rate(17)
    with pytest.raises(InputError, match="too few divisors"):
        Simulation(Path("ideal", rate=BDP), rates=[1009, 1013, 1019, 1021])


@kinds
def test_a_sender_sees_the_delays_of_the_trace(kind):
    path, seen = Path(kind, rate=BDP, jitter=int(kind != "ideal"), buffer=50), []

    def sender(observation):
        seen.append(observation)
        return 30 - observation.step

    run = simulate(path, sender, 30, seed=4, initial_queue=30)
    for name, attribute in ("Q", "last"), ("F", "first"):
        assert [getattr(o, attribute) for o in seen] == run.samples[name][:-1].tolist()
    assert [o.dropped for o in seen] == run.samples["L"][:-1].tolist()


def test_a_bound_without_a_start_is_explained():
    query = queries.make("ccac", "any", PERIOD + 1)
    controller = cca.parse(PROBES["C_L"], beliefs=query.units())
    with pytest.raises(InputError, match="C_U has no first value"):
        DeployedController(query.model, controller, Path("ccac", rate=BDP, jitter=1), PERIOD, {"C_L": 1})
