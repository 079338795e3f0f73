"""Conditions with explanations: each keeps its operands, so that an explanation shows the numbers that decide.

A reason's `condition` is the formula that solvers decide and replay evaluates; there is no second formula that could
disagree. `leaves(truth)` returns the parts that make it true or false for an execution's numbers.
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
    """A condition that can explain why it is true or false."""

    @property
    def condition(self) -> Truth:
        """The formula."""
        ...

    def leaves(self, truth: bool) -> list["Leaf"]:
        """Return the parts that make the condition true (or false); an empty list if its truth differs from `truth`."""
        ...


@dataclass(frozen=True)
class Leaf:
    """A comparison, count or statement together with its truth value."""

    reason: Reason
    truth: bool


class _Single:
    """A reason that is its own explanation."""

    def leaves(self: Any, truth: bool) -> list[Leaf]:
        """Return the reason itself if its truth value is `truth`."""
        return [Leaf(self, truth)] if self.condition is truth else []


class _Joined:
    """A reason whose parts explain it."""

    def leaves(self: Any, truth: bool) -> list[Leaf]:
        """Return the leaves of all parts whose truth value is `truth`."""
        return [leaf for part in self.parts for leaf in part.leaves(truth)] if self.condition is truth else []


@dataclass(frozen=True)
class Compared(_Single):
    """The comparison `value relation threshold` of two terms.

    Attributes:
        what: The value in words.
        value: A term.
        relation: One of < <= > >=.
        threshold: A term.
        unit: The unit of both.
        of: The threshold in words.
        step: The step that decides the comparison, if it is not the last one.
        since: If the value is compared with its own earlier value: the step of that earlier value.
    """

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
    """A condition in words.

    Attributes:
        what: The words.
        condition: The formula.
        value: The term that it concerns, or None.
    """

    what: str
    condition: Truth
    value: Term | None = None


@dataclass(frozen=True)
class AtMost(_Single):
    """The condition that at most `most` of the parts hold.

    Attributes:
        what: The parts that hold, in words.
        most: The largest allowed number.
        parts: The parts.
    """

    what: str
    most: Fraction
    parts: tuple[Reason, ...]

    @property
    def condition(self) -> Truth:
        """A unary counter over the parts."""
        most = int(self.most)
        reached: list[Truth] = [False] * (most + 1)
        for part in self.parts:
            truth = part.condition
            reached = [some(reached[k], every(truth, reached[k - 1]) if k else truth) for k in range(most + 1)]
        return no(reached[most])

    @property
    def held(self) -> tuple[Reason, ...]:
        """The parts that hold. The execution must consist of numbers."""
        return tuple(part for part in self.parts if part.condition is True)


@dataclass(frozen=True)
class AllOf(_Joined):
    """The condition that every part holds."""

    parts: tuple[Reason, ...]

    @property
    def condition(self) -> Truth:
        """The conjunction."""
        return every([part.condition for part in self.parts])


@dataclass(frozen=True)
class AnyOf(_Joined):
    """The condition that some part holds."""

    parts: tuple[Reason, ...]

    @property
    def condition(self) -> Truth:
        """The disjunction."""
        return some([part.condition for part in self.parts])


@dataclass(frozen=True)
class Fails:
    """The condition that the part does not hold."""

    part: Reason

    @property
    def condition(self) -> Truth:
        """The negation."""
        return no(self.part.condition)

    def leaves(self, truth: bool) -> list[Leaf]:
        """Return the part's leaves for the opposite truth value."""
        return self.part.leaves(not truth)


@dataclass(frozen=True)
class Implied:
    """The condition that the premise implies the conclusion."""

    premise: Reason
    conclusion: Reason

    @property
    def condition(self) -> Truth:
        """The implication."""
        return implies(self.premise.condition, self.conclusion.condition)

    def leaves(self, truth: bool) -> list[Leaf]:
        """Return the parts that make the implication true (or false).

        For a false implication, these are the parts of the true premise and those of the false conclusion.
        """
        if self.condition is not truth:
            return []
        if truth:
            return [*self.premise.leaves(False), *self.conclusion.leaves(True)]
        return [*self.premise.leaves(True), *self.conclusion.leaves(False)]
