"""Conditions with explanations.

Each condition keeps its operands, so that an explanation shows the numbers that decide it. The `condition` of a reason
is the formula that solvers decide and that replay evaluates. So there is no second formula that could disagree with the
first. `leaves(truth)` returns the parts that make the condition true or false for the numbers of an execution.
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
    """A condition on an execution that can name the parts which make it true or false."""

    @property
    def condition(self) -> Truth: ...

    def leaves(self, truth: bool) -> list["Leaf"]:
        """Return the parts that make the condition true (or false).

        If the condition's truth differs from `truth`, return an empty list.
        """


@dataclass(frozen=True)
class Leaf:
    """A comparison, count or statement together with its truth value."""

    reason: Reason
    truth: bool


class _Single:
    """A reason without parts, which is its own explanation."""

    def leaves(self: Any, truth: bool) -> list[Leaf]:
        return [Leaf(self, truth)] if self.condition is truth else []


class _Joined:
    def leaves(self: Any, truth: bool) -> list[Leaf]:
        return [leaf for part in self.parts for leaf in part.leaves(truth)] if self.condition is truth else []


@dataclass(frozen=True)
class Compared(_Single):
    """The comparison `value relation threshold` of two terms.

    Attributes:
        what: The value in words.
        value: A term.
        relation: The relation: one of < <= > >=.
        threshold: A term.
        unit: The unit of `value` and `threshold`.
        of: The threshold in words.
        step: The step that decides the comparison; None for the last step.
        since: The step of an earlier value of the same term, if the comparison is with that earlier value.
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
        return _COMPARE[self.relation](self.value, self.threshold)


@dataclass(frozen=True)
class Stated(_Single):
    """A condition with a text that states it.

    Attributes:
        what: The condition in words.
        condition: The formula.
        value: The term that the condition concerns, or None.
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
        """The condition as a unary counter of the parts."""
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
        return every([part.condition for part in self.parts])


@dataclass(frozen=True)
class AnyOf(_Joined):
    """The condition that some part holds."""

    parts: tuple[Reason, ...]

    @property
    def condition(self) -> Truth:
        return some([part.condition for part in self.parts])


@dataclass(frozen=True)
class Fails:
    """The condition that a part does not hold."""

    part: Reason

    @property
    def condition(self) -> Truth:
        return no(self.part.condition)

    def leaves(self, truth: bool) -> list[Leaf]:
        return self.part.leaves(not truth)


@dataclass(frozen=True)
class Implied:
    """The condition that the premise implies the conclusion."""

    premise: Reason
    conclusion: Reason

    @property
    def condition(self) -> Truth:
        return implies(self.premise.condition, self.conclusion.condition)

    def leaves(self, truth: bool) -> list[Leaf]:
        """Return the parts that make the implication true (or false).

        A false implication has the parts of its true premise and of its false conclusion.
        """
        if self.condition is not truth:
            return []
        if truth:
            return [*self.premise.leaves(False), *self.conclusion.leaves(True)]
        return [*self.premise.leaves(True), *self.conclusion.leaves(False)]
