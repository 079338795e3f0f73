"""Claims about all steps of an execution: bounds, and a service curve for the utilisation of the link.

Three implications make a set of states an inductive invariant, and prove a claim.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from pysmt.shortcuts import Symbol
from pysmt.typing import REAL

from ccmatic.base import InputError
from ccmatic.contracts import Execution
from ccmatic.logic import Linear, Truth, choice, every, linear, no
from ccmatic.proving.invariants.forms import Replaced
from ccmatic.proving.invariants.transition import TransitionSystem

#: The unknown that a claim adds to the state.
MONITOR = "monitor"


@dataclass(frozen=True)
class Claim:
    """A claim about each step of an execution.

    Attributes:
        subject: The quantity: `queue` (the bytes in flight beyond propagation), `window`, `loss` (bytes lost in an
            R_m), `utilisation`, a belief or a state variable. If there are several flows, the claim is about each one.
        relation: `<=` or `>=`.
        amount: The bound, in C·R_m; a share of C for a utilisation.
        within: For a utilisation x, the number K: in each interval of t steps, at least x·t - K bytes are served. None
            for other subjects.
    """

    subject: str
    relation: Literal["<=", ">="]
    amount: Fraction
    within: Fraction | None = None

    def __str__(self) -> str:
        within = "" if self.within is None else f" within {self.within}"
        return f"{self.subject} {self.relation} {self.amount}{within}"

    @property
    def is_vacuous(self) -> bool:
        """Whether the claim allows a link that serves no byte in 1,000 steps."""
        return self.within is not None and self.within >= 1000 * self.amount


@dataclass(frozen=True)
class Monitored:
    """A claim about a transition system."""

    claim: Claim
    #: The condition on a state that the claim holds at its step.
    holds: Truth
    #: The conditions on the steps before an initial state that the claim holds there.
    early: tuple[Truth, ...]
    #: An unknown that belongs to the state as well; None if the claim needs none.
    monitor: Any = None
    at_first: Any = None
    after: Any = None


def monitored(claim: Claim, system: TransitionSystem) -> Monitored:
    """Return a claim as a condition on the states of a transition system."""
    if claim.subject == "utilisation":
        return _service_curve(claim, system)
    if claim.within is not None:
        raise InputError(f"'{claim}' has a K, which only a utilisation has; expected '{replace(claim, within=None)}'")
    values = _quantities(claim, system.x)
    compare = _within(claim)
    if claim.subject != "loss":
        early = tuple(compare(value(t)) for t in range(system.now) for value in values)
        now = every([compare(value(system.now)) for value in values])
        return Monitored(claim, system.relative(now), early)
    monitor, (lost,) = Symbol(MONITOR, REAL), values
    steps = range(system.x.R, system.now + 1)
    if not any(linear(lost(t)).coefficients for t in steps):
        raise InputError(f"this network loses no bytes, so '{claim}' needs no proof; expected a finite buffer")
    early = tuple(compare(lost(t)) for t in steps)
    return Monitored(
        claim, compare(_term(monitor)), early, monitor, lost(system.now), system.relative(lost(system.now + 1))
    )


def _service_curve(claim: Claim, system: TransitionSystem) -> Monitored:
    """Return the claim that each interval of t steps serves at least x·t - K bytes.

    The monitor is the least value of (bytes served) - x·t over all intervals that end now.
    """
    if claim.relation != ">=" or claim.within is None:
        raise InputError(f"'{claim}' is no service curve; expected such as 'utilisation >= 1/2'")
    x, monitor = system.x, Symbol(MONITOR, REAL)

    def moved(before: Linear, t: int) -> Any:
        grown = before + x.S[t] - x.S[t - 1] - claim.amount * x.C
        return linear(choice(grown <= 0, grown, linear(0)))

    first = linear(0)
    for t in range(1, system.now + 1):
        first = moved(first, t)
    after = system.relative(moved(_term(monitor), system.now + 1))
    return Monitored(claim, _term(monitor) >= -claim.within, (), monitor, first, after)


def _quantities(claim: Claim, x: Execution) -> Sequence[Callable[[int], Any]]:
    """Return the value of a claim's subject at each step. A window, a state or a belief has a value for each flow."""
    values: dict[str, list[Callable[[int], Any]]] = {"queue": [x.inflight], "loss": [lambda t: x.L[t] - x.L[t - x.R]]}
    if x.windows:
        values["window"] = [flow.cwnd.__getitem__ for flow in x.flows]
    own = [{**flow.beliefs, **flow.state} for flow in x.flows]
    for name in set.intersection(*map(set, own)) - values.keys():
        values[name] = [columns[name].__getitem__ for columns in own]
    if claim.subject == "loss" and x.R != 1:
        raise InputError(f"the loss per R_m of {x.R} steps has no claim yet; expected R = 1")
    if claim.subject not in values:
        known = ", ".join(sorted(values))
        raise InputError(f"no invariant bounds '{claim.subject}' on this network; expected utilisation, {known}")
    return values[claim.subject]


def _within(claim: Claim) -> Callable[[Any], Truth]:
    if claim.relation == "<=":
        return lambda value: value <= claim.amount
    return lambda value: value >= claim.amount


def _term(symbol: Any) -> Linear:
    return Linear({symbol: Fraction(1)})


#: A set of states: each condition is a clause, and the set has the states that satisfy all clauses.
Clauses = Sequence[Truth]


@dataclass(frozen=True)
class Implication:
    """An implication that an invariant has to satisfy. It holds if the conditions `refuted` have no common solution."""

    name: str
    #: Conditions that state the premise and the negation of the conclusion.
    refuted: tuple[Truth, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """The search for an invariant of a transition system that proves a claim."""

    system: TransitionSystem
    claim: Claim

    @cached_property
    def about(self) -> Monitored:
        return monitored(self.claim, self.system)

    @cached_property
    def state(self) -> tuple[Any, ...]:
        return (*self.system.state, *([] if self.about.monitor is None else [self.about.monitor]))

    @cached_property
    def at_first(self) -> dict[Any, Any]:
        return {**self.system.at_first, self.about.monitor: self.about.at_first}

    @cached_property
    def after(self) -> dict[Any, Any]:
        return {**self.system.after, self.about.monitor: self.about.after}

    @property
    def names(self) -> dict[Any, str]:
        return {
            each: each.symbol_name() if each is self.about.monitor else self.system.describe(each)
            for each in self.state
        }

    def starts(self, clauses: Clauses) -> Implication:
        """Return the implication that each initial state is in the set, and that the claim holds before it."""
        within = Replaced(self.at_first).condition(every(list(clauses)))
        return Implication("starts inside", (*self.system.first, no(every(within, *self.about.early))))

    def stays(self, clauses: Clauses, clause: Truth, name: str = "stays inside") -> Implication:
        """Return the implication that one clause of the set still holds after each step from the set."""
        then = Replaced(self.after).condition(clause)
        return Implication(name, (*clauses, *self.system.current, *self.system.step, no(then)))

    def proves(self, clauses: Clauses) -> Implication:
        """Return the implication that the claim holds in each state of the set."""
        return Implication("proves the claim", (*clauses, *self.system.current, no(self.about.holds)))

    def implications(self, clauses: Clauses) -> Iterator[Implication]:
        yield self.starts(clauses)
        for number, clause in enumerate(clauses, 1):
            yield self.stays(clauses, clause, f"stays inside, clause {number}")
        yield self.proves(clauses)
