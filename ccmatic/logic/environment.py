"""Where formulas live: a pySMT environment for each call, not one for all calls and threads.

pySMT looks its environment up on one stack for the whole process. Here each thread has a stack of its own on top of
that, so that what is done within `environment` is seen by this thread alone; elsewhere all is as pySMT has it.
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
    """pySMT's stack, with environments of this thread above it."""

    def __init__(self, shared: Any) -> None:
        self._shared, self._own = shared, list[Any]()

    def __getitem__(self, index: int) -> Any:
        return (self._own or self._shared)[index]

    def append(self, entered: Any) -> None:
        """What `pysmt.environment.push_env` does."""
        (self._own or self._shared).append(entered)

    def pop(self) -> Any:
        """What `pysmt.environment.pop_env` does."""
        return (self._own or self._shared).pop()

    @contextmanager
    def above(self, entered: Any) -> Iterator[None]:
        """In this thread, `entered` is the environment."""
        own, self._own = self._own, [entered]
        try:
            yield
        finally:
            self._own = own


_stack = pysmt.environment.ENVIRONMENTS_STACK = _Stack(pysmt.environment.ENVIRONMENTS_STACK)


class _Formulas(pysmt.formula.FormulaManager):  # type: ignore[misc]
    """Formulas whose types are not checked: terms and conditions are what they are by their classes, and Z3 checks."""

    def _do_type_check(self, formula: Any) -> None:
        pass


class _Environment(pysmt.environment.Environment):  # type: ignore[misc]
    FormulaManagerClass = _Formulas


class Environment:
    """An environment of its own. `with environment:` formulas are made in it, by this thread; the terms of one
    environment are of no use in another."""

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
    """The function, each call of which has an environment of its own."""

    @wraps(function)
    def alone(*arguments: P.args, **named: P.kwargs) -> T:
        with Environment():
            return function(*arguments, **named)

    return alone


def isolated_steps(steps: Generator[T, None, None]) -> Generator[T, None, None]:
    """The steps of a generator, each made in the same environment of their own; between two of them the caller's is
    as it was."""
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
