"""What proofs about beliefs are made of: objectives, measures of progress, constants and lemmas."""

from collections import ChainMap
from dataclasses import replace
from fractions import Fraction

from ccmatic.properties.performance import bdp, inflight_within, loses_at_most, utilises

from ccmatic.contracts import Constant, Lemma, Measure, Objective
from ccmatic.logic import every, implies, some


def uses_link(share="utilisation"):
    """The Objective that so much is delivered. share: the constant's name."""
    return Objective(
        "uses the link", f"at least {{{share}}} of C(T - D) is delivered", lambda x, c: utilises(x, c[share])
    )


UTILISES = uses_link()
LITTLE_INFLIGHT = Objective(
    "bounds inflight", "inflight is at most {inflight}·C(R_m + D)", lambda x, c: inflight_within(x, c["inflight"])
)
LITTLE_LOSS = Objective(
    "loses little", "at most {loss} packets are lost in an R_m", lambda x, c: loses_at_most(x, c["loss"])
)
NO_LOSS = Objective(
    "loses nothing if the buffer is large",
    "nothing is lost if the buffer is at least {lossless_buffer}·C(R_m + D)",
    lambda x, c: implies(x.beta >= c["lossless_buffer"] * bdp(x), loses_at_most(x, 0)),
)


def of_belief(name, by, **about):
    """The Measure of a belief that nears C. about: what is otherwise."""
    about = {"limit": lambda x: x.C, "limit_says": "C"} | about
    return Measure(name, lambda x, t: x.beliefs[name][t], by=by, **about)


def of_queue(name, value, **about):
    """The Measure of what drains, by so many C·R_m in a window. value: as of a Measure. about: what is otherwise."""
    about = {"unit": lambda x: x.C, "unit_says": "C·R_m"} | about
    return Measure(name, value, lambda x: 0, "0", by="drain", **about)


def constant(name, says, low, high, step="1/100", **about):
    """A Constant, its range in whole numbers or as text."""
    return Constant(name, says, Fraction(low), Fraction(high), Fraction(step), **about)


def smallest(name, says, low, high, step="1/20", **about):
    """Likewise of one that is better if it is smaller."""
    return constant(name, says, low, high, step, better="smaller", **about)


def inflight(high, step="1/20"):
    """The constant of LITTLE_INFLIGHT."""
    return smallest("inflight", "inflight in the steady state, at most, in C(R_m + D)", 1, high, step)


def with_values(constants, **about):
    """Constants of which some are otherwise. about: what, by name."""
    return tuple(replace(each, **about.get(each.name, {})) for each in constants)


def kept(name, holds):
    """The Lemma that a condition on a step is true at a window's end if it was at first."""
    return Lemma(name, lambda x, c: holds(x, 0, c), lambda x, c: holds(x, x.horizon - 1, c))


def progresses_at_all(state, **least):
    """The Lemma that a window which stays in a State progresses, by steps of `least` where these are not yet known, and
    so limits what the state or its excuses say before it is known how fast it is left."""

    def stays(x, c):
        return every(state.holds(x, 0, c), state.holds(x, x.horizon - 1, c))

    def progresses(x, c):
        improved = [measure.improves(x, ChainMap(least, c)) for measure in state.measures]
        excused = every([objective.holds(x, c) for objective in state.unless]) if state.unless else False
        return some(improved, excused)

    return Lemma(f"{state.name}: progresses at all", stays, progresses, empty=True)
