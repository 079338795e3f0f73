"""The rule for actions: Gymnasium's and PettingZoo's interfaces clip some actions, and refuse others.

A finite number outside the bounds is clipped to the bounds. Everything else that is no action is refused: a wrong
shape, NaN, infinity, text, and a whole number that is the index of no choice.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete, Space
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ccmatic.base import InputError, shown


@dataclass(frozen=True)
class ActionRule:
    bounds: tuple[float, float]  #: the smallest and the largest action
    choices: tuple[float, ...] = ()  #: empty if every number within the bounds is an action

    @cached_property
    def space(self) -> "Space[Any]":
        return Discrete(len(self.choices)) if self.choices else Box(*self.bounds, (1,), np.float32)

    def spaces(self, n: int) -> "Space[Any]":
        return MultiDiscrete([len(self.choices)] * n) if self.choices else batch_space(self.space, n)

    def one(self, given: object) -> float:
        # This path serves most calls. It costs a tenth of the general path.
        if not self.choices and type(given) is np.ndarray and given.shape == (1,) and given.dtype.kind == "f":
            number = float(given[0])
            if math.isfinite(number):
                low, high = self.bounds
                return low if number < low else high if number > high else number
        return float(self.checked(given, () if self.choices else (1,)).item())

    def many(self, given: object, n: int) -> NDArray[np.float32]:
        """Return the actions of n links, (n, 1)."""
        return np.asarray(self.checked(given, (n,) if self.choices else (n, 1)), np.float32).reshape(n, 1)

    def checked(self, given: object, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the actions in the given shape, after clipping. An index of a choice is replaced by its action."""
        expected = f"expected {'whole ' if self.choices else ''}numbers of the shape {shape}"
        try:
            numbers = np.asarray(given)
        except (TypeError, ValueError, OverflowError, RecursionError):
            raise InputError(f"the action is {shown(given)}; {expected}") from None
        kinds = "iu" if self.choices else "iuf"
        if numbers.dtype.kind not in kinds or numbers.shape != shape:
            what = f"the shape {numbers.shape}" if numbers.dtype.kind in kinds else f"the type {numbers.dtype}"
            raise InputError(f"the action {shown(given)} has {what}; {expected}")
        if self.choices:
            if not ((numbers >= 0) & (numbers < len(self.choices))).all():
                raise InputError(f"the action is {shown(given)}; expected whole numbers below {len(self.choices)}")
            return np.asarray(np.asarray(self.choices)[numbers], np.float64)
        if not np.isfinite(numbers).all():
            raise InputError(f"the action is {numbers[~np.isfinite(numbers)][0]}; expected finite numbers")
        clipped: NDArray[np.float64] = np.clip(np.asarray(numbers, np.float64), *self.bounds)
        return clipped
