"""Formulas of an environment as functions of Python, instead of names and files.

JAX compiles these functions, so they consist of operations on arrays. They have no registers, and no export: a formula
in a file has both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.base import InputError, shown
from ccmatic.controllers import signal
from ccmatic.learning.envs import signals
from ccmatic.learning.envs.spread import spread

#: A function of a signals.Knowledge.
Function: TypeAlias = Callable[[signals.Knowledge], Array]

#: The numbers of flows and links in the check of a function. They differ, so that no axis is mistaken for another.
FLOWS, LINKS = 2, 3


@dataclass(frozen=True)
class ActionFunction:
    #: from a Knowledge and the last rates (bytes/s) to the next rates, all (f, n)
    rate: Callable[[signals.Knowledge, Array], Array]
    bounds: tuple[float, float]  #: the smallest and the largest action

    def __post_init__(self) -> None:
        if not isinstance(self.bounds, list | tuple) or len(self.bounds) != 2:
            raise InputError(f"the bounds of actions are {shown(self.bounds)}; expected two numbers")
        low, high = (spread(end, "a bound of actions", least=-float("inf")).ends[0] for end in self.bounds)
        if not low < high:
            raise InputError(f"the bounds of actions are {low:g} and {high:g}; expected ascending numbers")
        if not callable(self.rate):
            raise InputError(f"the rate of an action is {shown(self.rate)}; expected a function")
        object.__setattr__(self, "bounds", (low, high))


def observed(function: Function) -> int:
    """Return the number of elements in a vector of an observation, (f, n, elements)."""
    shape = _shape(function, "observe")
    if len(shape) != 3 or shape[:2] != (FLOWS, LINKS) or not shape[2]:
        raise InputError(f"observe {_named(function)} returns {_text(shape)}; expected (flows, links, numbers)")
    return int(shape[2])


def check_reward(function: Function) -> None:
    _check(function, "reward", _shape(function, "reward"))


def check_action(action: ActionFunction) -> None:
    rate = jnp.ones((FLOWS, LINKS))
    _check(action.rate, "act", _shape(lambda knowledge: action.rate(knowledge, rate), "act"))


def _check(function: Callable[..., Any], kind: str, shape: tuple[int, ...]) -> None:
    if shape != (FLOWS, LINKS):
        raise InputError(f"{kind} {_named(function)} returns {_text(shape)}; expected (flows, links)")


def _shape(function: Function, kind: str) -> tuple[int, ...]:
    """Return the shape of the array that a function returns for a Knowledge of FLOWS flows and LINKS links."""
    ones = jnp.ones((FLOWS, LINKS))
    knowledge = signals.first(ones, ones, jnp.int32(1500), signal.shared_memory(), capacity=ones)
    try:
        result = jax.eval_shape(function, knowledge)
    except Exception as error:  # the function is the user's, so it may raise anything
        raise InputError(f"{kind} fails: {type(error).__name__}: {shown(str(error).splitlines()[0])}") from None
    if not hasattr(result, "shape") or not jnp.issubdtype(result.dtype, jnp.number):
        raise InputError(f"{kind} {_named(function)} returns {shown(result)}; expected an array of numbers")
    return tuple(result.shape)


def _named(function: object) -> str:
    return shown(getattr(function, "__name__", type(function).__name__))


def _text(shape: tuple[int, ...]) -> str:
    names = {FLOWS: "flows", LINKS: "links"}
    return f"the shape ({', '.join(names.get(size, str(size)) for size in shape)})"
