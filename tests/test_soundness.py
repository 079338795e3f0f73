"""Soundness: no execution is lost, the beliefs contain the truth, and others' verdicts are ours.

Executions come from the simulator, which shares nothing with the engine's laws. What docs/encoding.md says stands
here once more: the laws as formulas, the beliefs and the objectives as plain Python on a trace's columns.
"""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path as File
from random import Random

import pytest
from ccmatic.templates.two_branches import TEMPLATE
from hypothesis import given, settings
from hypothesis import strategies as st

from ccmatic import query as queries
from ccmatic.contracts.property import WayToFail
from ccmatic.contracts.template import Branch, Form, linear_forms
from ccmatic.language import controller as cca
from ccmatic.logic.terms import constant, equal, every, iff, implies, no, some
from ccmatic.simulation.paths import HIDING, JITTER, NEVER, TICKS, Path
from ccmatic.simulation.simulator import Simulation, simulate
from ccmatic.solving.solver import SAT, UNSAT, Checker
from ccmatic.verification import counterexample
from ccmatic.verification.replayer import Outcome, complete, replay
from ccmatic.verification.verifier import HOLDS, VIOLATED, Part, Verifier

KINDS = ("ideal", "cbr_delay", "ccac")
BOUNDS = ("C_L", "C_U", "C_Llambda")
PEERS = sorted((File(__file__).parent / "peer_verdicts").glob("*.json"))


# Executions, sampled.


class Sampled:
    """A trace of a simulated run, with what the run knows and the trace does not say: its true delays, and in `full`
    also those that its model does not measure."""

    def __init__(self, run, start, horizon, buffer="{}"):
        trace = run.trace(start, horizon, alpha=Fraction(1, 2 * run.path.bdp))
        beta = trace.constants.get("beta")
        self.query = queries.make(
            trace.query["model"],
            "infinite" if beta is None else buffer.format(beta),
            horizon,
            jitter=run.path.jitter,
            delay="executions",
            thresholds={"constrain_loss": "always"},
        )
        self.full = replace(trace, query=self.query.record())
        self.trace = self.full.measuring(self.query.model.measures)
        self.delays = [run.queueing_delay(t) for t in range(start, start + horizon)]
        columns = trace.columns
        self.queue = [a - lost - k for a, lost, k in zip(columns["A"], columns["L"], columns["K"], strict=True)]

    def starts(self, looseness):
        """True first values of the beliefs, looser the larger `looseness` is, from 0 to 1."""
        alpha, D = self.trace.constants["MSS"], self.trace.constants["D"]
        most = min(Fraction(1), (1 + self.trace.constants.get("beta", D + 1)) / (D + 2))
        return {
            "C_L": 1 - looseness * (1 - alpha),
            "C_U": 1 + 2 * looseness,
            "C_Llambda": most - looseness * (most - alpha),
            "q_U": self.queue[0] + looseness,
        }

    def with_beliefs(self, looseness, scale=1):
        """The trace with every belief of its model, computed here; with all bytes counted `scale` times."""
        columns = self.trace.columns
        bytes_ = {name: tuple(scale * v for v in columns[name]) for name in ("A", "S", "L", "Ld", "K", "r")}
        trace = self.full.with_columns(**bytes_)
        starts = self.starts(looseness)
        columns = beliefs(trace, {**starts, "q_U": scale * starts["q_U"]}, self.delays)
        measured = trace.measuring(self.query.model.measures)
        return measured.with_columns(**{name: columns[name] for name in self.query.units()})


def beliefs(trace, starts, delays):
    """docs/encoding.md, section 6, in plain Python: the motion of each bound from its first value, and the states."""
    D, T = int(trace.constants["D"]), trace.horizon
    A, S, L, Ld, r, Q, F = (trace.columns[name] for name in ("A", "S", "L", "Ld", "r", "Q", "F"))
    seen = L if trace.query["model"] == "ideal" else Ld
    utilised = [Q[k + 1] > D or seen[k + 1] > seen[k] for k in range(T - 1)]
    quiet = [Ld[k + 1] == Ld[k] and not (F[k + 1] > D + 1 and S[k + 1] > S[k]) for k in range(T - 1)]
    known = {name: [first] for name, first in starts.items()}
    C_L, C_U, C_Llambda, q_U = known.values()
    for t in range(1, T):
        C_L.append(max(C_L[-1], *((S[t] - S[s]) / (t - s + D) for s in range(t))))
        busy = [s for s in range(t - D) if all(utilised[s:t])]
        C_U.append(min([C_U[-1], *((S[t] - S[s]) / (t - s - D) for s in busy)]))
        calm = [e for e in range(1, t + 1) if A[e] - L[e] <= S[t] and all(quiet[e - 1 : t])]
        C_Llambda.append(max([C_Llambda[-1], *((A[e] - A[e - 1]) / (D + 2) for e in calm)]))
        q_U.append(min(A[t] - Ld[t] - S[t], max(Fraction(0), q_U[-1] + r[t] - C_Llambda[t])))
    known["qdel_L"] = [max(Fraction(0), q - D) for q in Q]
    known["qdel_U"] = [q + 1 if q < T else max(q, most) for q, (_, most) in zip(Q, delays, strict=True)]
    return {name: tuple(column) for name, column in known.items()}


@st.composite
def executions(draw, kind):
    """A sampled run of a path of unit packets; the sender far above C, far below it, or near."""
    bdp = draw(st.integers(6, 40))
    slow, fast = st.integers(1, bdp), st.integers(bdp + 1, 10 * bdp)
    near = st.sampled_from([1, bdp - 1, bdp, bdp + 1, 2 * bdp])
    rates = draw(st.sampled_from([slow, fast, near, slow | fast | near]))
    counts = draw(st.lists(rates, min_size=10, max_size=14))
    jitter = 0 if kind == "ideal" else draw(st.integers(1, 2))
    room = draw(st.one_of(st.none(), st.integers(1, 4 * bdp)))
    run = simulate(
        Path(kind, rate=bdp, jitter=jitter, buffer=room),
        lambda seen: counts[seen.step],
        len(counts),
        seed=draw(st.integers(0, 2**32)),
        initial_queue=draw(st.sampled_from([0, 1, bdp, room or 2 * bdp, 5 * bdp])),
        jitter=draw(st.sampled_from(sorted(JITTER))),
        hiding=draw(st.sampled_from(sorted(HIDING))),
    )
    horizon = draw(st.integers(max(3, jitter + 2), 9))
    start = draw(st.integers(1, len(counts) + 1 - horizon))
    return Sampled(run, start, horizon, draw(st.sampled_from(["{}", "any", ">={}"])))


def on_executions(check, kind, number=20):
    """Run a check of a sampled run, and of how loose the first beliefs are, on many."""
    repeatably = settings(derandomize=True, deadline=None, max_examples=number)
    looseness = st.fractions(0, 1, max_denominator=8)
    repeatably(given(executions(kind), looseness)(check))()


@pytest.mark.parametrize("kind", KINDS)
def test_executions_obey_every_law(kind):
    on_executions(obeys_every_law, kind)


def obeys_every_law(sampled, _):
    assert replay(sampled.trace).faults == ()


@pytest.mark.parametrize("kind", KINDS)
def test_beliefs_contain_the_truth(kind):
    """And are, step by step, what the engine's laws say. For an exception see the test that comes next."""
    on_executions(beliefs_contain_the_truth, kind)


def beliefs_contain_the_truth(sampled, looseness):
    trace = sampled.with_beliefs(looseness)
    assert replay(trace).faults == ()
    for row, delay, queue in zip(trace.rows(), sampled.delays, sampled.queue, strict=True):
        assert row["C_L"] <= 1 <= row["C_U"] or (sampled.query.jitter > 1 and sampled.query.buffer.finite)
        assert row["qdel_L"] <= delay[1] and delay[0] <= row["qdel_U"]
        if "q_U" in row:
            assert row["C_Llambda"] <= 1 and queue <= row["q_U"]


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_that_a_trace_leaves_out_are_completed(kind):
    """From first values of the engine's choice they move as they do here."""
    on_executions(bounds_are_completed, kind)


def bounds_are_completed(sampled, looseness):
    full = complete(sampled.query, sampled.trace)
    assert replay(full).faults == ()
    first = {name: full.columns[name][0] for name in BOUNDS if name in full.columns}
    moved = beliefs(sampled.full, sampled.starts(looseness) | first, sampled.delays)
    assert {name: full.columns[name] for name in first} == {name: moved[name] for name in first}


def test_c_u_may_turn_false_where_jitter_exceeds_a_step():
    """A delay may tell of a queue D steps ago, a loss of one a step ago: where D = 2, some steps are told of
    by neither. Here the link is all but idle in (3, 4]. The delay seen at 4 is older; it is the last one seen
    until 5, when bytes are lost, and at 6 that loss is detected; so all three steps count as busy."""
    simulation = Simulation(Path("cbr_delay", rate=10, jitter=2, buffer=31), initial_queue=31, jitter="none")
    at = {instant: instant * simulation.path.step for instant in (Fraction("3.15"), 4, 6)}
    early, empty, end = at.values()
    simulation._release = lambda now: now if now <= early else end if now <= empty else NEVER
    for count in (1, 1, 1, 1, 50, 1):
        simulation.step(count)
    sampled = Sampled(simulation.run(), 3, 4)
    trace = sampled.with_beliefs(looseness=0)
    assert replay(trace).faults == ()
    assert trace.columns["C_U"] == (1, 1, 1, Fraction(2, 5))


def test_the_executions_are_not_trivial():
    """Among the runs of each kind: losses, steps without service, long delays, and bounds that move."""
    seen = {kind: set() for kind in KINDS}
    for kind in KINDS:
        on_executions(lambda run, loose, seen=seen[kind]: seen.update(_events(run.with_beliefs(loose))), kind, 120)
    common = {"loss", "several losses", "long delay", "C_L", "C_U", "underload", "overload"}
    assert seen["ideal"] == common
    assert seen["ccac"] == common | {"no service", "delay grows by two", "hidden tokens"}
    assert seen["cbr_delay"] == common | {"no service", "delay grows by two", "C_Llambda"}


def _events(trace):
    columns, e = trace.columns, trace.horizon - 1
    S, K, L, Q, r = (columns[name] for name in "SKLQr")
    steps = range(1, trace.horizon)
    losses = sum(L[t] > L[t - 1] for t in steps)
    bounds = {name: columns[name] for name in BOUNDS if name in columns}
    events = {
        "loss": losses,
        "several losses": losses > 2,
        "no service": any(S[t] == S[t - 1] for t in steps),
        "delay grows by two": any(Q[t] > Q[t - 1] + 1 for t in steps),
        "long delay": max(Q) > trace.constants["D"] + 1,
        "underload": max(r) < 1,
        "overload": min(r) > 1,
        "hidden tokens": any(K[t] > columns["A"][t] - L[t] for t in range(trace.horizon)),
        **{name: bound[0] != bound[e] for name, bound in bounds.items()},
    }
    return {name for name, happened in events.items() if happened}


def test_some_executions_break_the_assumption_on_the_growth_of_delay():
    """Nothing is served in step 2; in step 3 a byte is served that came two steps ago."""
    simulation = Simulation(Path("cbr_delay", rate=10, jitter=1), jitter="none")
    simulation._release = lambda now: now if now <= 10 * TICKS else now + 10 * TICKS
    for count in (25, 1, 1):
        simulation.step(count)
    assert breaks_only_as_published(Sampled(simulation.run(), 1, 3)) == (
        "cbr_delay.Q_grows_by_one_a_step at t=2",
        "cbr_delay.F_grows_by_one_a_step at t=2",
    )


def test_some_executions_break_the_assumption_on_the_delay_of_the_first_byte():
    """It may have left just after t-1, while F counts until t."""
    path = Path("cbr_delay", rate=10, jitter=1, buffer=15)
    sampled = Sampled(simulate(path, lambda seen: 20, 6, jitter="latest"), 1, 6)
    faults = set(breaks_only_as_published(sampled))
    assert faults == {f"cbr_delay.F_fits_buffer_at_once at t={t}" for t in (4, 5)}


def breaks_only_as_published(sampled):
    """The laws that an execution breaks under `delay="published"`; it breaks none of the others."""
    assert replay(sampled.trace).faults == ()
    return replay(as_published(sampled.trace)).faults


def as_published(trace):
    """The trace, held to the assumptions of the published model as well."""
    return replace(trace, query={**trace.query, "delay": "published"})


# Encodings, read on executions.


def held_still(trace, name, bound):
    """The trace with one bound at `bound` throughout."""
    return trace.with_columns(**{name: (bound,) * trace.horizon})


@pytest.mark.parametrize("kind", KINDS)
def test_a_frozen_bound_is_one_that_would_not_move(kind):
    """Frozen where the moving bound ended, nothing moves it; where it began, something does, if it moved."""
    on_executions(frozen_is_unmoved, kind)


def frozen_is_unmoved(sampled, looseness):
    query, trace = sampled.query, sampled.with_beliefs(looseness)
    for bound in query.model.bounds():
        column = trace.columns[bound.name]
        for value in {column[0], column[-1]}:
            x = query.observed(held_still(trace, bound.name, value), query.units())
            laws = [truth for _, _, truth in bound.frozen(x)]
            assert set(laws) <= {True, False}
            assert all(laws) == (value == column[-1]), bound.name


@pytest.mark.parametrize("kind", KINDS)
def test_objectives_are_those_of_the_property(kind):
    """On executions, and where a false count of bytes makes beliefs turn false."""
    on_executions(objectives_are_met_alike, kind)


def objectives_are_met_alike(sampled, looseness):
    prop, model = sampled.query.property, sampled.query.model
    ways = list(prop.ways_to_fail(model, sampled.query.buffer))
    for scale in (1, 2, Fraction(1, 2)):
        trace = sampled.with_beliefs(looseness, scale)
        x = sampled.query.observed(trace, sampled.query.units())
        met = objectives(trace)
        true, shrunk, small = (met.get(name, True) for name in UNCONDITIONAL)
        progress = all(truth for name, truth in met.items() if name not in UNCONDITIONAL)
        assert prop.objectives(model, x) == met
        assert prop.holds(met) == (true and small and (shrunk or progress))
        gone = {way.name for way in ways if way.formula(x) is True and not (way.frozen and shrunk)}
        assert gone == {
            name
            for name, failed in {
                "beliefs turn false": not true,
                "no progress": not shrunk and not progress,
                "large loss": not small,
            }.items()
            if failed
        }


#: The parts of the property that are no objective of the steady state.
UNCONDITIONAL = ("beliefs stay true", "bounds shrink", "small losses, or backs off")


def objectives(trace):
    """docs/encoding.md, section 7, in plain Python, with the default thresholds, loss constrained."""
    columns, e = trace.columns, trace.horizon - 1
    A, S, L, K, r = (columns[name] for name in "ASLKr")
    bdp, alpha = 1 + trace.constants["D"], trace.constants["MSS"]
    inflight = [a - lost - s for a, lost, s in zip(A, L, S, strict=True)]
    queue = [a - lost - k for a, lost, k in zip(A, L, K, strict=True)]
    up = r[e] > r[1] or inflight[e] > inflight[1] or queue[e] > queue[1]
    down = r[e] < r[1] or inflight[e] < inflight[1] or queue[e] < queue[1]
    losses = [L[t] - L[t - 1] for t in range(1, e + 1)]
    seldom, large = Fraction(e, 2) + 1, e * alpha
    moved = [columns[name][0] != columns[name][e] for name in BOUNDS if name in columns]
    true = columns["C_L"][e] <= 1 <= columns["C_U"][e]
    if "q_U" in columns:
        fits = (bdp + 1) * columns["C_Llambda"][e] <= 1 + trace.constants.get("beta", bdp)
        true = true and fits and columns["C_Llambda"][e] <= 1 and max(0, queue[e]) <= columns["q_U"][e]
    parts = {
        "beliefs stay true": true,
        "bounds shrink": any(moved),
        "utilises the link, or speeds up": S[e] - S[0] >= (e - trace.constants["D"]) / 2 or up,
        "bounds inflight, or backs off": max(inflight[1:]) <= 4 * bdp + 3 * alpha or down,
    }
    if "beta" in trace.constants:
        parts["loses seldom, or backs off"] = sum(loss > 0 for loss in losses) <= seldom or down
        parts["loses little at once, or backs off"] = max(losses) <= large or down
        parts["loses little in all, or backs off"] = L[e] - L[1] <= seldom * bdp + large or down
        parts["small losses, or backs off"] = max(losses) <= large or down
    return parts


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "check", [obeys_every_law, beliefs_contain_the_truth, frozen_is_unmoved, objectives_are_met_alike]
)
def test_on_many_executions(check, kind):
    on_executions(check, kind, 300)


# The laws, and those of docs/encoding.md.


def encoding(x, kind):
    """docs/encoding.md, sections 1 to 5, written from there: (law, formula) pairs."""
    A, S, L, Ld, K, r, D, T = x.A, x.S, x.L, x.Ld, x.K, x.r, x.D, x.horizon
    X = [a - lost for a, lost in zip(A, L, strict=True)]
    yield "packet", every(x.alpha > 0, x.alpha * 5 < 1)
    yield "first", every(equal(S[0], 0), A[0] >= 0, r[0] > 0, Ld[0] >= 0, Ld[0] <= L[0])
    for t in range(1, T):
        yield f"sender {t}", every(equal(A[t], A[t - 1] + r[t]), r[t] >= x.alpha)
        yield f"grows {t}", every(S[t] >= S[t - 1], L[t] >= L[t - 1], X[t] >= X[t - 1])
        yield f"detected {t}", equal(Ld[t], L[t - 1])
    for t in range(T):
        yield f"sent {t}", S[t] <= X[t]
        if kind != "ideal":
            yield f"token {t}", every(S[t] <= K[t], S[t] >= (K[t - D] if t >= D else K[0] - (D - t)))
    for t in range(1, T):
        if kind == "ideal":
            yield f"ideal {t}", equals_least(S[t], S[t - 1] + 1, A[t] - L[t - 1])
        else:
            yield f"token rate {t}", every(K[t] >= K[t - 1], K[t] <= K[t - 1] + 1)
            yield f"waste {t}", implies(K[t] < K[t - 1] + 1, X[t] <= K[t])
        if kind == "cbr_delay":
            yield f"cbr {t}", every(equals_least(K[t], K[t - 1] + 1, X[t]), K[0] <= X[0])
    if x.beta is not None:
        yield from losses_and_buffer(x, X)
    if x.buffer.kind == "at least":
        yield "least buffer", x.beta >= x.buffer.size
    yield from delay(x, "Q", lambda t, d: every(X[t - d - 1] < S[t], S[t] <= X[t - d]))
    if kind == "cbr_delay":
        yield from delay(x, "F", lambda t, d: every(X[t - d - 1] <= S[t - 1], S[t - 1] < X[t - d]))


def first_beliefs(x):
    """docs/encoding.md, section 6: what is known of the beliefs at 0."""
    alpha, C_L, C_U = x.alpha, x.beliefs["C_L"][0], x.beliefs["C_U"][0]
    yield "C_L", every(alpha <= C_L, C_L <= 1)
    yield "C_U", every(C_L <= C_U, C_U >= 1)
    if "q_U" in x.beliefs:
        C_Llambda, q_U = x.beliefs["C_Llambda"][0], x.beliefs["q_U"][0]
        fits = constant(True) if x.beta is None else x.beta + 1 >= C_Llambda * (x.D + 2)
        yield "C_Llambda", every(alpha <= C_Llambda, C_Llambda <= 1, fits)
        yield "q_U", every(q_U >= 0, q_U >= x.A[0] - x.L[0] - x.K[0])


def losses_and_buffer(x, X):
    full = [k + x.beta for k in x.K]
    yield "buffer", every(x.beta > x.alpha, X[0] <= full[0])
    yield "lost just before", implies(x.L[0] > x.Ld[0], equal(X[0], full[0]))
    for t in range(1, x.horizon):
        over = x.A[t] - x.L[t - 1] > full[t]
        yield f"loss {t}", every(implies(over, equal(X[t], full[t])), some(over, equal(x.L[t], x.L[t - 1])))


def delay(x, name, seen):
    """A measured delay, which grows by at most one a step and fits the buffer."""
    T, column = x.horizon, getattr(x, name)
    for t in range(T):
        for d in range(T if x.beta is not None else 0):
            yield f"{name} fits {t}", implies(column.exactly(t, d), x.beta + x.D >= d)
        if x.beta is not None:
            yield f"{name} known {t}", implies(x.beta + x.D < T, no(column.at_least(t, T)))
    for t in range(1, T):
        served = x.S[t] > x.S[t - 1]
        for d in range(T):
            was = column.exactly(t - 1, d)
            yield f"{name} stays {t}", implies(no(served), iff(column.exactly(t, d), was))
            grown = some([column.exactly(t, k) for k in range(d + 2)])
            yield f"{name} grows {t}", implies(was, grown)
        for d in range(t):
            yield f"{name} seen {t}", implies(served, iff(column.exactly(t, d), seen(t, d)))


def equals_least(target, one, other):
    return every(target <= one, target <= other, some(target >= one, target >= other))


NETWORKS = [
    (kind, buffer, jitter)
    for kind, jitters in (("ideal", (0,)), ("cbr_delay", (1, 2)), ("ccac", (1, 2)))
    for jitter in jitters
    for buffer in ("infinite", "any", "1/2", ">=2")
]


@pytest.mark.parametrize("kind, buffer, jitter", NETWORKS)
def test_the_laws_are_those_of_the_encoding(kind, buffer, jitter):
    """The engine's laws imply each law of docs/encoding.md, and the other way round."""
    assert list(laws_that_differ(kind, buffer, jitter)) == []


def laws_that_differ(kind, buffer, jitter, horizon=5):
    """The names of the laws, of either side, that the other side does not imply."""
    query = queries.make(kind, buffer, horizon, jitter=jitter)
    x = query.execution()
    starts = [law for law in query.model.belief_laws(x) if law.name.endswith(("_starts", "_holds_at_first"))]
    ours = [(str(law), law.formula) for law in [*query.laws(x), *starts]]
    theirs = [*encoding(x, kind), *first_beliefs(x)]
    yield from not_implied(ours, theirs)
    in_order = [law for law in ours if "is_one_delay" in law[0]]
    yield from not_implied([*theirs, *in_order], ours)


@pytest.mark.parametrize("kind, buffer, jitter", NETWORKS)
def test_true_bounds_stay_true(kind, buffer, jitter):
    """The query for large losses takes it for granted (docs/encoding.md, section 8, point 5). But C_U, as above."""
    query = queries.make(kind, buffer, 4, jitter=jitter)
    x, bounds = query.execution(), query.model.bounds()
    laws = [*query.laws(x), *query.model.belief_laws(x, {bound.name for bound in bounds})]
    last = [(bound.name, bound.holds(x, x.beliefs[bound.name][x.horizon - 1])) for bound in bounds]
    false = ["C_U"] if jitter > 1 and buffer in ("any", ">=2") else []
    assert list(not_implied([(law.name, law.formula) for law in laws], last)) == false


def not_implied(laws, others):
    """The names of the others that the laws do not imply."""
    checker = Checker()
    for _, formula in laws:
        checker.add(formula)
    assert checker.check() == SAT
    for name, formula in others:
        checker.push()
        checker.add(no(formula))
        if checker.check() != UNSAT:
            yield name
        checker.pop()


# The frozen and the moving encoding.


#: `if condition: rate else: rate` over the beliefs of CBR-delay (docs/encoding.md, section 9, 2λ).
OVER_QUEUE = Branch(
    linear_forms({"q_U / R_m": range(-2, 3), "C_Llambda": range(-2, 3), "MSS / R_m": range(-2, 3)}),
    *[linear_forms({"C_Llambda": (0, "1/2", 1, 2, 3), "q_U / R_m": (0, 1, -1), "MSS / R_m": (0, 1, -1)})] * 2,
)


def random_candidates(template, query, number, seed=0):
    """Controllers in which random forms fill the template's holes."""
    rng = Random(seed)
    for _ in range(number):
        text = template.source([rng.choice(hole) for hole in template.holes()], "Drawn at random.")
        yield cca.parse(text, beliefs=query.units())


def ways(query, goal):
    """The goal while no bound moves: with frozen bounds, and with moving ones, none tighter at the end."""
    bounds = query.model.bounds()
    names = tuple(bound.name for bound in bounds)

    def unmoved(x):
        return every([no(bound.tighter(x)) for bound in bounds], goal(x))

    moving = WayToFail("moving", unmoved, reads=names)
    return WayToFail("frozen", goal, frozen=True, reads=names), moving


#: The queries on which candidates are compared, each with the space from which they are drawn. The thresholds
#: are such that some candidates hold.
COMPARED = (
    ("ccac", "infinite", 4, {"utilisation": "0"}, TEMPLATE),
    ("ccac", "any", 4, {"utilisation": "0"}, TEMPLATE),
    ("ideal", "infinite", 3, {"utilisation": "0", "inflight_rates": "2"}, TEMPLATE),
    ("cbr_delay", "any", 4, {"utilisation": "0"}, OVER_QUEUE),
)


@pytest.mark.parametrize("model, buffer, horizon, thresholds, template", COMPARED)
def test_frozen_and_moving_encodings_agree_on_candidates(model, buffer, horizon, thresholds, template):
    """Is there no progress? Asked of random candidates; some hold."""
    answers = list(on_candidates(model, buffer, horizon, thresholds, template))
    assert set(answers) == {(SAT, SAT), (UNSAT, UNSAT)}


def on_candidates(model, buffer, horizon, thresholds, template):
    """The two encodings' answers on each candidate."""
    query = queries.make(model, buffer, horizon, thresholds=thresholds)
    goal = next(way.formula for way in query.property.ways_to_fail(query.model, query.buffer) if way.frozen)
    yield from asked(query, ways(query, goal), template)


def asked(query, two_ways, template):
    """The answers, for each of the ways, on random candidates."""
    reads = template.names & query.units().keys()
    parts = [Part(query, way, {}, reads) for way in two_ways]
    for controller in random_candidates(template, query, 30):
        yield tuple(part.ask(controller) for part in parts)


@pytest.mark.parametrize("model, template", [("ccac", TEMPLATE), ("cbr_delay", OVER_QUEUE)])
def test_true_bounds_lose_no_large_loss(model, template):
    """The query for large losses that takes true bounds for granted answers as the one that does not."""
    answers = list(on_large_losses(model, template))
    assert set(answers) == {(SAT, SAT), (UNSAT, UNSAT)}


def on_large_losses(model, template):
    """The answers on each candidate, with and without true bounds."""
    query = queries.make(model, "any", 4, thresholds={"constrain_loss": "always"})
    way = next(way for way in query.property.ways_to_fail(query.model, query.buffer) if way.beliefs_true)
    bounds = tuple(bound.name for bound in query.model.bounds())
    way = replace(way, reads=bounds)
    yield from asked(query, (way, replace(way, beliefs_true=False)), template)


@pytest.mark.parametrize("model, buffer, horizon", [query[:3] for query in COMPARED])
def test_frozen_and_moving_encodings_agree_on_windows(model, buffer, horizon):
    """How much can be sent or served in a window, given a bound that does not move?"""
    answers = list(on_windows(model, buffer, horizon))
    assert set(answers) == {(SAT, SAT), (UNSAT, UNSAT)}


def on_windows(model, buffer, horizon):
    """The two encodings' answers on each goal."""
    query = queries.make(model, buffer, horizon)
    parts = [Part(query, way, {}, ()) for way in ways(query, lambda x: constant(True))]
    for seed in range(40):
        yield tuple(_reached(part, seed) for part in parts)


def _reached(part, seed):
    """Whether a random goal can be reached: two windows, each at least or at most a multiple of a bound."""
    rng, x = Random(seed), part.x
    part.checker.push()
    for _ in range(2):
        column, bound = rng.choice((x.A, x.S)), rng.choice(sorted(part.way.reads))
        begin, end = sorted(rng.sample(range(x.horizon), 2))
        sent, most = column[end] - column[begin], x.beliefs[bound][0] * rng.randint(1, x.horizon)
        part.checker.add(sent < most if rng.random() < 0.5 else sent > most)
    answer = part.checker.check()
    part.checker.pop()
    return answer


# What the published tool answered.


#: How a controller writes the terms of a peer's form.
WRITTEN = {"MSS/R_m": "MSS / R_m", "q_U": "q_U / R_m"}


def peer_query(file, delay="published"):
    """The query of a file of verdicts, and its candidates: (controller, verdict) pairs."""
    data = json.loads(file.read_text())
    asked = data["query"]
    thresholds = {name: asked[name] for name in ("utilisation", "constrain_loss")}
    network = (asked[name] for name in ("model", "buffer", "horizon"))
    query = queries.make(*network, delay=delay, thresholds=thresholds)
    return query, [(_peer(candidate, query), candidate["verdict"]) for candidate in data["candidates"]]


def _peer(candidate, query):
    test, then, other = (_form(candidate[part]) for part in ("if", "then", "else"))
    names = ", ".join(sorted(test.names | then.names | other.names))
    source = f"def rate({names}):\n    if {test} > 0:\n        return {then}\n    return {other}\n"
    return cca.parse(source, beliefs=query.units())


def _form(coefficients):
    pairs = ((WRITTEN.get(term, term), Fraction(c)) for term, c in coefficients.items())
    return Form(tuple((term, c) for term, c in pairs if c))


def differing(query, candidates):
    """The (controller, verdict here) pairs that are not as the peer says."""
    reads = set().union(*(controller.parameters for controller, _ in candidates)) & query.units().keys()
    verifier = Verifier(query, reads)
    ours = [(controller, verifier.verify(controller)) for controller, _ in candidates]
    return [pair for pair, (_, verdict) in zip(ours, candidates, strict=True) if pair[1].verdict != verdict]


def counterexample_to(query, controller):
    """A violated controller's trace, as people get it."""
    verifier = Verifier(query, set(controller.parameters) & query.units().keys())
    verdict = verifier.verify(controller)
    assert verdict.verdict == VIOLATED
    return counterexample.for_people(verifier.part(verdict.way), controller)


@pytest.mark.parametrize("file", PEERS, ids=lambda file: file.stem)
def test_verdicts_are_the_published_tools(file):
    query, candidates = peer_query(file)
    assert {verdict for _, verdict in candidates} == {HOLDS, VIOLATED}
    differ = differing(query, candidates)
    told = [f"{verdict.verdict} here:\n{controller.source}" for controller, verdict in differ]
    assert not told, "\n".join(told)


def test_one_verdict_differs_on_all_executions():
    """A step may pass without any service. Then the delay measured stays as it was, and jumps by two steps in
    the next: the controller sees qdel_L = 0, and sends at 2·C_L, for a step longer than the published model's
    assumption allows, which overfills the queue."""
    [file] = [file for file in PEERS if file.stem == "ccac_infinite_T5"]
    query, candidates = peer_query(file, "executions")
    [(controller, verdict)] = differing(query, candidates)
    assert verdict.verdict == VIOLATED
    for delay, rate in (Fraction(1), 0), (Fraction(0), 2):
        assert controller.rate({"C_L": 1, "qdel_L": delay}) == rate
    trace = counterexample_to(query, controller)
    assert replay(trace).outcome is Outcome.BREAKS
    assert any(trace.columns["S"][t] == trace.columns["S"][t - 1] for t in range(1, trace.horizon))
    assert any(fault.startswith("ccac.Q_grows_by_one_a_step") for fault in replay(as_published(trace)).faults)
