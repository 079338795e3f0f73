"""The three implications that make a set of states an inductive invariant, and prove a claim."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ccmatic.logic import Truth, every, no
from ccmatic.proving.invariants.claims import Claim, Monitored, monitored
from ccmatic.proving.invariants.forms import Replaced
from ccmatic.proving.invariants.transition import TransitionSystem

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
