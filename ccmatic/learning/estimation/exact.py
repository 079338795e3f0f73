"""What is possible, given what a sender has seen: the least and the most that some execution of a model has."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from ccmatic.base import InputError
from ccmatic.contracts import Execution, Law, seen
from ccmatic.learning.estimation.cases import Case
from ccmatic.logic import Linear, Truth, isolated, linear, no, unit, unit_is_positive
from ccmatic.query import Network
from ccmatic.solving import SAT, Checker, conflict, greatest
from ccmatic.traces import Trace

T = TypeVar("T")


@dataclass(frozen=True)
class Range:
    """From the least to the most; None: no bound. Each is reached, or approached."""

    least: Fraction | None
    most: Fraction | None


ANY = Range(None, None)


@dataclass(frozen=True)
class Possible:
    """What may be at the end of a step, in the sender's bytes and in steps.

    C: bytes per step. queue: bytes that wait at the bottleneck. delay: how long what comes now waits there, queue/C.
    waited: how many whole steps the last byte that was served had waited there, from the end of the step in which it
    was sent to that of the step in which it was let through; ANY if that began before what was looked at."""

    C: Range
    queue: Range
    delay: Range
    waited: Range


@isolated
def possible(network: Network, trace: Trace, C: Range = ANY) -> Possible:
    """What is Possible at the end of a trace, of which a sender has seen its steps; C: what is known of C besides.
    Raises InputError if no execution of the network is as the trace, with the laws that say so."""
    x = seen(network.model, network.buffer, network.jitter, trace, trace.horizon)
    laws = [law for law in _laws(network, x, C) if law.formula is not True]
    conditions = [unit_is_positive(), *(law.formula for law in laws)]
    search = _Search(conditions)
    if not search.case:
        raise InputError(_refusal(network, [laws[index - 1] for index in conflict(conditions) if index]))
    queue = linear(x.queue(x.horizon - 1))
    return Possible(
        C=search.range(linear(1), unit(), C),
        queue=_waiting(search.range(queue, unit())),
        delay=_waiting(search.range(queue, linear(1))),
        waited=_waited(x, search),
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
    which = f"these laws leave none: {', '.join(map(str, laws))}"
    return f"no execution of {of} is as what was seen; {which}; expected another model, buffer or jitter"


def _waiting(queue: Range) -> Range:
    """What waits, where a queue below 0 is of tokens."""
    least, most = (bound if bound is None else max(bound, Fraction(0)) for bound in (queue.least, queue.most))
    return Range(least or Fraction(0), most)


def _waited(x: Execution, search: "_Search") -> Range:
    """Of the last byte that was served. Over whole steps; that it was served bounds them by the delay measured."""
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
    """For bounds over the solutions of some conditions. case: that of some solution, None if there is none."""

    def __init__(self, conditions: Sequence[Truth]) -> None:
        self._conditions, self._checker = conditions, Checker()
        for condition in conditions:
            self._checker.add(condition)
        self.case = self._case(True)

    def reaches(self, condition: Truth) -> bool:
        """Whether the condition is true in some solution."""
        return self._solved(condition, lambda: True) is not None

    def _case(self, condition: Truth) -> Case | None:
        """The Case in which a solution is with which the condition is true; None if there is none."""
        return self._solved(condition, lambda: Case(self._conditions, self._checker.value))

    def _solved(self, condition: Truth, read: Callable[[], T]) -> T | None:
        """What is read of such a solution, or None."""
        self._checker.push()
        try:
            self._checker.add(condition)
            return read() if self._checker.check() == SAT else None
        finally:
            self._checker.pop()

    def range(self, numerator: Linear, denominator: Linear, claimed: Range = ANY) -> Range:
        """The Range of a quotient whose denominator is above 0 in each solution; known: one that the conditions say."""
        least = self._most(-numerator, denominator, None if claimed.least is None else -claimed.least)
        return Range(None if least is None else -least, self._most(numerator, denominator, claimed.most))

    def _most(self, numerator: Linear, denominator: Linear, claimed: Fraction | None) -> Fraction | None:
        """The least upper bound, or None: that of a case, until nothing is above."""
        if claimed is not None and self.reaches(numerator >= denominator * claimed):
            return claimed
        bound, case = None, self.case
        while case:
            bound = greatest(numerator, denominator, case.below, case.zero)
            if bound is None:
                return None
            case = self._case(numerator > denominator * bound)
        return bound
