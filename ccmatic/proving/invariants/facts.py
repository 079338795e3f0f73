"""Simple facts that hold in all states: signs, orders and values of the state's unknowns.

All facts together are an inductive set. ccmatic finds them without Spacer: it begins with many candidates, and drops
each candidate that some step breaks. If a fact fixes an unknown to one value, a search for further clauses leaves this
unknown out of the state.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from pysmt.typing import BOOL

from ccmatic.logic import Truth, every, formula, linear, no
from ccmatic.logic.solving import SAT, Checker
from ccmatic.proving.invariants.forms import Replaced
from ccmatic.proving.invariants.lasting import as_value
from ccmatic.proving.invariants.problem import Problem


@dataclass(frozen=True)
class Facts:
    """Facts about the states of a problem."""

    clauses: tuple[Truth, ...]
    #: The unknowns that have the same value in all states, with this value: 0, true or false.
    fixed: Mapping[Any, Any]


def facts(problem: Problem) -> Facts:
    """Return the largest set of simple facts that no initial state and no step breaks.

    If no fact fixes an unknown, the result is empty, because such facts would only distract Spacer.
    """
    left = _kept(list(_candidates(problem.state)), problem.system.first, problem.at_first, ())
    before = None
    while before != len(left):
        before = len(left)
        left = _kept(left, (*problem.system.current, *problem.system.step), problem.after, left)
    known, fixed = {formula(each) for each in left}, dict[Any, Any]()
    for symbol in problem.state:
        value: Any = as_value(symbol)
        if symbol.symbol_type() is not BOOL:
            fixed |= {symbol: linear(0)} if {formula(value <= 0), formula(value >= 0)} <= known else {}
        elif formula(value) in known or formula(no(value)) in known:
            fixed[symbol] = formula(value) in known
    return Facts(tuple(each for each in left if _is_useful(each, fixed)) if fixed else (), fixed)


def _candidates(state: Sequence[Any]) -> Iterator[Truth]:
    numbers = [as_value(symbol) for symbol in state if symbol.symbol_type() is not BOOL]
    for symbol in state:
        value: Any = as_value(symbol)
        yield from (value, no(value)) if symbol.symbol_type() is BOOL else (value <= 0, value >= 0)
    yield from (small <= large for small, large in permutations(numbers, 2))


def _is_useful(fact: Truth, fixed: Mapping[Any, Any]) -> bool:
    """Return whether a fact fixes an unknown, or is about unknowns that no fact fixes."""
    symbols = formula(fact).get_free_variables()
    return len(symbols) == 1 or not symbols & fixed.keys()


def _kept(
    candidates: Sequence[Truth], conditions: Sequence[Truth], after: Mapping[Any, Any], before: Sequence[Truth]
) -> list[Truth]:
    """Return the candidates that hold after every allowed step.

    A step is allowed if it begins in a state that satisfies `before`, and satisfies the conditions.
    """
    left, checker = list(candidates), Checker()
    for condition in (*conditions, *before):
        checker.add(condition)
    while left:
        checker.push()
        checker.add(no(Replaced(after).condition(every(left))))
        if checker.check() != SAT:
            checker.pop()
            return left
        values = {symbol: checker.value(value) for symbol, value in after.items() if symbol is not None}
        checker.pop()
        broken = Replaced({symbol: _constant(value) for symbol, value in values.items()}).condition
        left = [each for each in left if broken(each) is True]
    return left


def _constant(value: Any) -> Any:
    return value if isinstance(value, bool) else linear(value)
