"""Checks of a sampled execution: laws, beliefs, omitted bounds, frozen bounds, objectives.

The objectives are implemented again here, as docs/reference/encoding.md states them.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.answers.verification.replayer import complete, replay
from ccmatic.contracts import Bounds
from support.executions import BOUNDS, MOST, beliefs


def obeys_every_law(sampled, _):
    assert replay(sampled.trace).faults == ()


def beliefs_contain_the_truth(sampled, looseness):
    trace = sampled.with_beliefs(looseness)
    assert replay(trace).faults == ()
    most = MOST.get(sampled.query.model.name, 1)
    for row, delay, queue in zip(trace.rows(), sampled.delays, sampled.queue, strict=True):
        assert (row["C_L"] <= most and row["C_U"] >= 1) or (sampled.query.jitter > 1 and sampled.query.buffer.finite)
        assert row["qdel_L"] <= delay[1] and delay[0] <= row["qdel_U"]
        if "q_U" in row:
            assert row["C_Llambda"] <= 1 and queue <= row["q_U"]


def bounds_are_completed(sampled, looseness):
    full = complete(sampled.query, sampled.trace)
    assert replay(full).faults == ()
    first = {name: full.columns[name][0] for name in BOUNDS if name in full.columns}
    moved = beliefs(sampled.full, sampled.starts(looseness) | first, sampled.delays)
    assert {name: full.columns[name] for name in first} == {name: moved[name] for name in first}


def breaks_only_as_published(sampled):
    """The laws that an execution breaks under `delay="published"`; it breaks none of the others."""
    assert replay(sampled.trace).faults == ()
    return replay(as_published(sampled.trace)).faults


def as_published(trace):
    """The trace, held to the assumptions of the published model as well."""
    return replace(trace, query={**trace.query, "delay": "published"})


def held_still(trace, name, bound):
    """The trace with one bound at `bound` throughout."""
    return trace.with_columns(**{name: (bound,) * trace.horizon})


def frozen_is_unmoved(sampled, looseness):
    query, trace = sampled.query, sampled.with_beliefs(looseness)
    for bound in query.model.bounds():
        column = trace.columns[bound.name]
        for value in {column[0], column[-1]}:
            x = query.observed(held_still(trace, bound.name, value), query.units())
            laws = [truth for _, _, truth in bound.frozen(x)]
            assert set(laws) <= {True, False}
            assert all(laws) == (value == column[-1]), bound.name


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
        gone = {way.name for way in ways if way.formula(x) is True and not (way.bounds is Bounds.STAY and shrunk)}
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
    """docs/reference/encoding.md, section 7, in plain Python, with the default thresholds, loss constrained."""
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
    true = columns["C_L"][e] <= MOST.get(trace.query["model"], 1) and columns["C_U"][e] >= 1
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
