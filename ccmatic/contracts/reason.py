"""Conditions that can be told: each keeps what it compares, so that the numbers of a sentence are those that decide.

A reason's `condition` is what solvers are asked and replay finds true or false; there is no other formula to disagree
with. `leaves(truth)` are the parts that make it so, of an execution's numbers.
"""

import operator
from dataclasses import dataclass
from fractions import Fraction

from ccmatic.logic import constant, every, implies, no, some

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True)
class Leaf:
    """A comparison, a count or a statement that is true, or is false."""

    reason: object
    truth: bool


class _Single:
    """A reason that is told by itself."""

    def leaves(self, truth):
        """Itself, if it is so."""
        return [Leaf(self, truth)] if self.condition is truth else []


class _Joined:
    """A reason that is told by its parts."""

    def leaves(self, truth):
        """Of each part that is so."""
        return [leaf for part in self.parts for leaf in part.leaves(truth)] if self.condition is truth else []


@dataclass(frozen=True)
class Compared(_Single):
    """value relation threshold, of terms, the relation one of < <= > >=. what: the value in words. unit: of both. of:
    what the threshold is, in words. step: when it is decided, if before the end. since: the step at which the same
    quantity was the threshold, for what rises or falls."""

    what: str
    value: object
    relation: str
    threshold: object
    unit: str = ""
    of: str = ""
    step: int | None = None
    since: int | None = None

    @property
    def condition(self):
        """The comparison."""
        return _COMPARE[self.relation](self.value, self.threshold)


@dataclass(frozen=True)
class Stated(_Single):
    """A condition in words. value: what it is about, a term, or None."""

    what: str
    condition: object
    value: object = None


@dataclass(frozen=True)
class AtMost(_Single):
    """At most so many of the parts hold. what: those that do, in words."""

    what: str
    most: Fraction
    parts: tuple

    @property
    def condition(self):
        """A counter, row by row."""
        most = int(self.most)
        reached = [constant(False)] * (most + 1)
        for part in self.parts:
            truth = part.condition
            reached = [some(reached[k], every(truth, reached[k - 1]) if k else truth) for k in range(most + 1)]
        return no(reached[most])

    @property
    def held(self):
        """The parts that hold, of numbers."""
        return tuple(part for part in self.parts if part.condition is True)


@dataclass(frozen=True)
class AllOf(_Joined):
    """Every part holds."""

    parts: tuple

    @property
    def condition(self):
        """The conjunction."""
        return every([part.condition for part in self.parts])


@dataclass(frozen=True)
class AnyOf(_Joined):
    """Some part holds."""

    parts: tuple

    @property
    def condition(self):
        """The disjunction."""
        return some([part.condition for part in self.parts])


@dataclass(frozen=True)
class Fails:
    """The part does not hold."""

    part: object

    @property
    def condition(self):
        """The negation."""
        return no(self.part.condition)

    def leaves(self, truth):
        """Of the part, which is the opposite."""
        return self.part.leaves(not truth)


@dataclass(frozen=True)
class Implied:
    """If the premise holds, so does the conclusion."""

    premise: object
    conclusion: object

    @property
    def condition(self):
        """The implication."""
        return implies(self.premise.condition, self.conclusion.condition)

    def leaves(self, truth):
        """Of a false one: the premise that holds, and the conclusion that does not."""
        if self.condition is not truth:
            return []
        if truth:
            return [*self.premise.leaves(False), *self.conclusion.leaves(True)]
        return [*self.premise.leaves(True), *self.conclusion.leaves(False)]
