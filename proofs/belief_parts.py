"""The building blocks of proofs about beliefs: objectives, measures of progress, constants and lemmas."""

from collections import ChainMap
from dataclasses import replace
from fractions import Fraction

from ccmatic.properties.performance import bdp, inflight_within, loses_at_most, utilises

from ccmatic.contracts import Constant, Lemma, Measure, Objective
from ccmatic.logic import every, implies, some


def uses_link(share="utilisation"):
    """Return the Objective that the link delivers a share of its capacity. `share` is the name of the constant."""
    return Objective(
        "uses the link", f"the link delivers at least {{{share}}} of C(T - D)", lambda x, c: utilises(x, c[share])
    )


UTILISES = uses_link()
LITTLE_INFLIGHT = Objective(
    "bounds inflight",
    "at most {inflight}·C(R_m + D) bytes are in flight",
    lambda x, c: inflight_within(x, c["inflight"]),
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
    """Return the Measure of a belief that approaches C. `about` overrides its fields."""
    about = {"limit": lambda x: x.C, "limit_says": "C"} | about
    return Measure(name, lambda x, t: x.beliefs[name][t], by=by, **about)


def of_queue(name, value, **about):
    """Return the Measure of a value that drains by a number of C·R_m per window.

    Args:
        name: The name of the measure.
        value: As in Measure.
        about: Overrides of its fields.
    """
    about = {"unit": lambda x: x.C, "unit_says": "C·R_m"} | about
    return Measure(name, value, lambda x: 0, "0", by="drain", **about)


def constant(name, says, low, high, step="1/100", **about):
    """Return a Constant. Its range is given as integers or text."""
    return Constant(name, says, Fraction(low), Fraction(high), Fraction(step), **about)


def smallest(name, says, low, high, step="1/20", **about):
    """Return a Constant that is better if it is smaller."""
    return constant(name, says, low, high, step, better="smaller", **about)


def inflight(high, step="1/20"):
    """Return the constant of LITTLE_INFLIGHT."""
    return smallest("inflight", "inflight in the steady state, at most, in C(R_m + D)", 1, high, step)


def with_values(constants, **about):
    """Return the constants with some fields replaced. `about` has the new fields by the constant's name."""
    return tuple(replace(each, **about.get(each.name, {})) for each in constants)


def kept(name, holds):
    """Return the Lemma that a condition holds at the end of a window if it holds at its start."""
    return Lemma(name, lambda x, c: holds(x, 0, c), lambda x, c: holds(x, x.horizon - 1, c))


def progresses_at_all(state, **least):
    """Return the Lemma that each window that stays in a State makes progress of at least `least`.

    `least` replaces constants that are not yet known. So the lemma limits the constants of the state and its excuses
    before the search knows the speed of progress.
    """

    def stays(x, c):
        return every(state.holds(x, 0, c), state.holds(x, x.horizon - 1, c))

    def progresses(x, c):
        improved = [measure.improves(x, ChainMap(least, c)) for measure in state.measures]
        excused = every([objective.holds(x, c) for objective in state.unless]) if state.unless else False
        return some(improved, excused)

    return Lemma(f"{state.name}: progresses at all", stays, progresses, empty=True)
