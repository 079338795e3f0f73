"""The possible values, given a sender's observations: the smallest and the largest in all executions of a model."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from ccmatic.base import InputError
from ccmatic.contracts import Execution, Law, sender_observations
from ccmatic.logic import Condition, Linear, Truth, formula, isolated, linear, no, unit, unit_is_positive
from ccmatic.logic.solving import SAT, Checker, conflict, greatest
from ccmatic.networks.traces import Trace
from ccmatic.questions.query import Network
from ccmatic.records import RangeRecord as Range

T = TypeVar("T")


#: The range without bounds. Executions reach or approach each end of a range that has one.
ANY = Range(None, None)


@dataclass(frozen=True)
class PossibleValues:
    """The possible values at the end of a step, in the sender's unit of bytes and in steps.

    Attributes:
        C: The rate of the link in bytes per step.
        queue: The bytes that wait at the bottleneck.
        delay: The time for which a byte that arrives now waits at the bottleneck, queue/C.
        waited: The time for which the last served byte waited at the bottleneck, in whole steps. The time begins at the
            end of the step in which the byte was sent. The time ends at the end of the step in which the bottleneck
            admitted the byte. The range is ANY if the byte was sent before the observed steps.
    """

    C: Range
    queue: Range
    delay: Range
    waited: Range


@isolated
def possible(network: Network, trace: Trace, C: Range = ANY) -> PossibleValues:
    """Return the PossibleValues at the end of a trace, whose steps a sender has observed.

    `C` is what the sender already knows of C. If no execution explains the trace, an InputError names the laws that
    exclude it.
    """
    x = sender_observations(network.model, network.buffer, network.jitter, trace, trace.horizon)
    laws = [law for law in _laws(network, x, C) if law.formula is not True]
    conditions = [unit_is_positive(), *(law.formula for law in laws)]
    search = _Search(conditions)
    if not search.case:
        raise InputError(_refusal(network, [laws[index - 1] for index in conflict(conditions) if index]))
    queue = linear(x.queue(x.horizon - 1))
    return PossibleValues(
        C=search.range(linear(1), unit(), C),
        queue=_waiting(search.range(queue, unit())),
        delay=_waiting(search.range(queue, linear(1))),
        waited=_wait(x, search),
    )


def _laws(network: Network, x: Execution, C: Range) -> Iterator[Law]:
    model = network.model
    yield from model.laws(x)
    if network.delay == "published":
        yield from model.assumptions(x)
    if C.least is not None:
        yield Law(model.name, "C_is_as_before", 0, unit() * C.least <= x.C)
    if C.most is not None:
        yield Law(model.name, "C_is_as_before", 0, unit() * C.most >= x.C)


def _refusal(network: Network, laws: Sequence[Law]) -> str:
    of = f"{network.model_name} with the buffer {network.buffer} and a jitter of {network.jitter}"
    which = f"these laws rule it out: {', '.join(map(str, laws))}"
    return f"no execution of {of} explains the observations; {which}; expected another model, buffer or jitter"


def _waiting(queue: Range) -> Range:
    """Return the range of the bytes that wait. A negative queue stands for unused tokens."""
    least, most = (bound if bound is None else max(bound, Fraction(0)) for bound in (queue.least, queue.most))
    return Range(least or Fraction(0), most)


def _wait(x: Execution, search: "_Search") -> Range:
    """Return the Range of the last served byte's wait in whole steps. The measured delay is its upper bound."""
    served = next((t for t in range(x.horizon - 1, 0, -1) if x.S[t] > x.S[t - 1]), None)
    if served is None or x.Q is None:
        return ANY
    sent = served - x.Q.steps(served)
    if sent < 0:
        return ANY
    delays = range(int(served - sent) + 1)
    within = [x.K[int(sent) + steps] >= x.S[served] for steps in delays]
    least = next(steps for steps in delays if search.reaches(within[steps]))
    most = next(steps for steps in delays if not search.reaches(no(within[steps])))
    return Range(Fraction(least), Fraction(most))


class _Search:
    """A search for bounds on terms over the solutions of conditions. Its `case` is None if there is no solution."""

    def __init__(self, conditions: Sequence[Truth]) -> None:
        self._conditions, self._checker = conditions, Checker()
        for condition in conditions:
            self._checker.add(condition)
        self.case = self._case(True)

    def reaches(self, condition: Truth) -> bool:
        return self._solve(condition, lambda: True) is not None

    def _case(self, condition: Truth) -> "Case | None":
        """Return the Case of a solution in which the condition is true, or None."""
        return self._solve(condition, lambda: Case(self._conditions, self._checker.value))

    def _solve(self, condition: Truth, read: Callable[[], T]) -> T | None:
        """Read a value from a solution in which the condition is true; None if there is no such solution."""
        self._checker.push()
        try:
            self._checker.add(condition)
            return read() if self._checker.check() == SAT else None
        finally:
            self._checker.pop()

    def range(self, numerator: Linear, denominator: Linear, claimed: Range = ANY) -> Range:
        """Return the Range of a quotient whose denominator is positive. The conditions imply the Range `claimed`."""
        least = self._most(-numerator, denominator, None if claimed.least is None else -claimed.least)
        return Range(None if least is None else -least, self._most(numerator, denominator, claimed.most))

    def _most(self, numerator: Linear, denominator: Linear, claimed: Fraction | None) -> Fraction | None:
        """Return the least upper bound, or None: visit one case after another until no case has a larger value."""
        if claimed is not None and self.reaches(numerator >= denominator * claimed):
            return claimed
        bound, case = None, self.case
        while case:
            bound = greatest(numerator, denominator, case.below, case.zero)
            if bound is None:
                return None
            case = self._case(numerator > denominator * bound)
        return bound


class Case:
    """The polyhedron of conditions around one solution: the literals that are true in the solution define it.

    The conditions are true wherever all terms in `below` are at most 0 (or below 0, for strict comparisons) and all
    terms in `zero` are 0. This set is convex. Where the two sides of a strict comparison are equal, a point lies
    outside the set, but the set comes arbitrarily close to it. `value` reads a term or a condition in the solution.
    """

    def __init__(self, conditions: Iterable[Truth], value: Callable[[Linear | Condition], Any]) -> None:
        self._value = value
        self._truths: dict[Any, bool] = {}
        self.below: list[Linear] = []
        self.zero: list[Linear] = []
        for condition in conditions:
            self._add(formula(condition), True)

    def _add(self, node: Any, truth: bool) -> None:
        """Add the literals that give a formula this truth value in the solution."""
        if node.is_not():
            self._add(node.arg(0), not truth)
        elif node.is_and() or node.is_or():
            decisive = node.is_or()  # One operand with this truth value is enough.
            parts = [part for part in node.args() if self._holds(part) is truth]
            for part in parts[:1] if truth is decisive else parts:
                self._add(part, truth)
        elif node.is_implies():
            premise, conclusion = node.args()
            if not truth or not self._holds(premise):
                self._add(premise, not truth)
            if not truth or self._holds(premise):
                self._add(conclusion, truth)
        elif node.is_iff():
            for part in node.args():
                self._add(part, self._holds(part))
        elif node.is_le() or node.is_lt():
            difference = self._difference(node)
            self.below.append(difference if truth else -difference)
        elif node.is_equals():
            difference = self._difference(node)
            if truth:
                self.zero.append(difference)
            else:
                self.below.append(difference if self._value(difference) < 0 else -difference)

    def _holds(self, node: Any) -> bool:
        """Return whether a formula is true in the solution."""
        if node not in self._truths:
            self._truths[node] = self._decide(node)
        return self._truths[node]

    def _decide(self, node: Any) -> bool:
        if node.is_not():
            return not self._holds(node.arg(0))
        if node.is_and():
            return all(map(self._holds, node.args()))
        if node.is_or():
            return any(map(self._holds, node.args()))
        if node.is_implies():
            return not self._holds(node.arg(0)) or self._holds(node.arg(1))
        if node.is_iff():
            return self._holds(node.arg(0)) is self._holds(node.arg(1))
        if node.is_le() or node.is_lt() or node.is_equals():
            value = self._value(self._difference(node))
            return bool(value <= 0 if node.is_le() else value < 0 if node.is_lt() else value == 0)
        return bool(node.constant_value() if node.is_bool_constant() else self._value(Condition(node)))

    def _difference(self, comparison: Any) -> Linear:
        """Return the left side of a comparison minus its right side, as a term without choices."""
        left, right = map(self._term, comparison.args())
        return left - right

    def _term(self, node: Any) -> Linear:
        if node.is_plus():
            return sum(map(self._term, node.args()), Linear())
        if node.is_times():
            factor, of = map(self._term, node.args())
            return factor * of
        if node.is_ite():
            condition, then, otherwise = node.args()
            truth = self._holds(condition)
            self._add(condition, truth)
            return self._term(then if truth else otherwise)
        if node.is_real_constant():
            return Linear(constant=Fraction(node.constant_value()))
        return Linear({node: Fraction(1)})
