"""Environments for formulas. Each call has its own pySMT environment, so that calls and threads do not share one.

pySMT looks up its environment on one stack for the whole process. This module adds a stack per thread on top of it.
Only the thread that enters an `Environment` can see this environment. All other behaviour is that of pySMT.
"""

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import pysmt.environment
import pysmt.formula

P = ParamSpec("P")
T = TypeVar("T")


class _Stack(threading.local):
    """pySMT's stack of environments, with the environments of the current thread on top."""

    def __init__(self, shared: Any) -> None:
        self._shared, self._own = shared, list[Any]()

    def __getitem__(self, index: int) -> Any:
        return (self._own or self._shared)[index]

    def append(self, entered: Any) -> None:
        (self._own or self._shared).append(entered)

    def pop(self) -> Any:
        return (self._own or self._shared).pop()

    @contextmanager
    def above(self, entered: Any) -> Iterator[None]:
        own, self._own = self._own, [entered]
        try:
            yield
        finally:
            self._own = own


_stack = pysmt.environment.ENVIRONMENTS_STACK = _Stack(pysmt.environment.ENVIRONMENTS_STACK)


class _Formulas(pysmt.formula.FormulaManager):  # type: ignore[misc]
    """A formula manager without type checks: the classes of terms guarantee the types, and Z3 checks them."""

    def _do_type_check(self, formula: Any) -> None:
        pass


class _Environment(pysmt.environment.Environment):  # type: ignore[misc]
    FormulaManagerClass = _Formulas


class Environment:
    """An environment for formulas, used as a context manager.

    Within `with environment:`, this thread creates its formulas in this environment. Terms of one environment are
    invalid in every other environment.
    """

    def __init__(self) -> None:
        self._environment = _Environment()
        self._entered = list[AbstractContextManager[None]]()

    def __enter__(self) -> None:
        scope = _stack.above(self._environment)
        scope.__enter__()
        self._entered.append(scope)

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)


def isolated(function: Callable[P, T]) -> Callable[P, T]:
    @wraps(function)
    def alone(*arguments: P.args, **named: P.kwargs) -> T:
        with Environment():
            return function(*arguments, **named)

    return alone


def isolated_steps(steps: Generator[T, None, None]) -> Generator[T, None, None]:
    """Run all steps of a generator in one separate environment. Between steps, the caller's environment is active."""
    environment = Environment()
    try:
        while True:
            with environment:
                try:
                    step = next(steps)
                except StopIteration:
                    return
            yield step
    finally:
        with environment:
            steps.close()
