"""Conditions that can be told: each keeps what it compares, so that the numbers of a sentence are those that decide.

A reason's `condition` is what solvers are asked and replay finds true or false; there is no other formula to disagree
with. `leaves(truth)` are the parts that make it so, of an execution's numbers.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from ccmatic.logic import Term, Truth, every, implies, no, some

_COMPARE: dict[str, Callable[[Term, Term], Truth]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Reason(Protocol):
    """A condition of which it can be told why it is true, or false: what all of these are."""

    @property
    def condition(self) -> Truth:
        """The formula."""
        ...

    def leaves(self, truth: bool) -> list["Leaf"]:
        """The parts that make it true, or false; none if it is not so."""
        ...


@dataclass(frozen=True)
class Leaf:
    """A comparison, a count or a statement that is true, or is false."""

    reason: Reason
    truth: bool


class _Single:
    """A reason that is told by itself."""

    def leaves(self: Any, truth: bool) -> list[Leaf]:
        """Itself, if it is so."""
        return [Leaf(self, truth)] if self.condition is truth else []


class _Joined:
    """A reason that is told by its parts."""

    def leaves(self: Any, truth: bool) -> list[Leaf]:
        """Of each part that is so."""
        return [leaf for part in self.parts for leaf in part.leaves(truth)] if self.condition is truth else []


@dataclass(frozen=True)
class Compared(_Single):
    """value relation threshold, of terms, the relation one of < <= > >=. what: the value in words. unit: of both. of:
    what the threshold is, in words. step: when it is decided, if before the end. since: the step at which the same
    quantity was the threshold, for what rises or falls."""

    what: str
    value: Term
    relation: str
    threshold: Term
    unit: str = ""
    of: str = ""
    step: int | None = None
    since: int | None = None

    @property
    def condition(self) -> Truth:
        """The comparison."""
        return _COMPARE[self.relation](self.value, self.threshold)


@dataclass(frozen=True)
class Stated(_Single):
    """A condition in words. value: what it is about, a term, or None."""

    what: str
    condition: Truth
    value: Term | None = None


@dataclass(frozen=True)
class AtMost(_Single):
    """At most so many of the parts hold. what: those that do, in words."""

    what: str
    most: Fraction
    parts: tuple[Reason, ...]

    @property
    def condition(self) -> Truth:
        """A counter, row by row."""
        most = int(self.most)
        reached: list[Truth] = [False] * (most + 1)
        for part in self.parts:
            truth = part.condition
            reached = [some(reached[k], every(truth, reached[k - 1]) if k else truth) for k in range(most + 1)]
        return no(reached[most])

    @property
    def held(self) -> tuple[Reason, ...]:
        """The parts that hold, of numbers."""
        return tuple(part for part in self.parts if part.condition is True)


@dataclass(frozen=True)
class AllOf(_Joined):
    """Every part holds."""

    parts: tuple[Reason, ...]

    @property
    def condition(self) -> Truth:
        """The conjunction."""
        return every([part.condition for part in self.parts])


@dataclass(frozen=True)
class AnyOf(_Joined):
    """Some part holds."""

    parts: tuple[Reason, ...]

    @property
    def condition(self) -> Truth:
        """The disjunction."""
        return some([part.condition for part in self.parts])


@dataclass(frozen=True)
class Fails:
    """The part does not hold."""

    part: Reason

    @property
    def condition(self) -> Truth:
        """The negation."""
        return no(self.part.condition)

    def leaves(self, truth: bool) -> list[Leaf]:
        """Of the part, which is the opposite."""
        return self.part.leaves(not truth)


@dataclass(frozen=True)
class Implied:
    """If the premise holds, so does the conclusion."""

    premise: Reason
    conclusion: Reason

    @property
    def condition(self) -> Truth:
        """The implication."""
        return implies(self.premise.condition, self.conclusion.condition)

    def leaves(self, truth: bool) -> list[Leaf]:
        """Of a false one: the premise that holds, and the conclusion that does not."""
        if self.condition is not truth:
            return []
        if truth:
            return [*self.premise.leaves(False), *self.conclusion.leaves(True)]
        return [*self.premise.leaves(True), *self.conclusion.leaves(False)]
