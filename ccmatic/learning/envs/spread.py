"""Quantities that differ from link to link: a single number, a choice among several numbers, or a range."""

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ccmatic.base import InputError, shown

#: The smallest size of a number other than 0, and the largest. Single floats represent this range with room to spare.
TINIEST, HUGEST = 1e-9, 1e12


@dataclass(frozen=True)
class OneOf:
    """A choice among values that are all equally likely."""

    values: tuple[float, ...]

    def at(self, luck: Array) -> Array:
        """Return a value for each element of an array of uniform random numbers from 0 to 1."""
        number = jnp.minimum(jnp.floor(luck * len(self.values)), len(self.values) - 1)
        return jnp.array(self.values, jnp.float32)[number.astype(jnp.int32)]

    @property
    def ends(self) -> tuple[float, float]:
        return min(self.values), max(self.values)


@dataclass(frozen=True)
class Range:
    """A range from low to high.

    Its values are uniformly distributed. If `log` is true, their logarithms are instead.
    """

    low: Any  # a float, or a traced array
    high: Any
    log: bool = False

    def at(self, luck: Array) -> Array:
        if self.log:
            return jnp.exp(jnp.log(self.low) + luck * jnp.log(self.high / self.low))
        values: Array = self.low + luck * (self.high - self.low)
        return values

    @property
    def ends(self) -> tuple[Any, Any]:
        return self.low, self.high


Spread: TypeAlias = OneOf | Range


@dataclass(frozen=True)
class Packets:
    """The first rate of a deployed sender: a number of packets in the first R_m (RFC 6928: ten)."""

    count: int


def first(given: object) -> Spread | Packets:
    """Return the Packets of `N packets`, or the Spread of a share of the link's rate."""
    if isinstance(given, Packets) or not isinstance(given, str):
        return given if isinstance(given, Packets) else spread(given, "first", above=True)
    count, _, unit = given.partition(" ")
    if unit not in ("packets", "packet") or not count.isascii() or not count.isdigit() or not 1 <= int(count) <= 1000:
        raise InputError(f"first is '{shown(given)}'; expected 1 to 1000 packets, such as '10 packets', or shares")
    return Packets(int(count))


def spread(given: object, name: str, least: float = 0.0, most: float = math.inf, above: bool = False) -> Spread:
    """Return the Spread of a number, a list, an array of numpy, or a dict with `low`, `high` and optionally `log`.

    Its numbers are from `least`, or above it, to `most`.
    """
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, OneOf | Range):
        made: Spread = given
    elif isinstance(given, dict):
        if not {"low", "high"} <= given.keys() <= {"low", "high", "log"}:
            raise InputError(
                f"{name} has {', '.join(map(str, given)) or 'nothing'}; expected low and high, and optionally log"
            )
        low, high = (_number(given[end], name) for end in ("low", "high"))
        made = Range(low, high, bool(given.get("log", False)))
    elif isinstance(given, list | tuple):
        made = OneOf(tuple(_number(value, name) for value in given))
    else:
        made = OneOf((_number(given, name),))
    if isinstance(made, OneOf) and not made.values:
        raise InputError(f"{name} is an empty list; expected a number at least")
    low, high = made.ends
    if low > high or (isinstance(made, Range) and made.log and low <= 0):
        raise InputError(f"{name} is from {low:g} to {high:g}; expected low ≤ high, above 0 if its logarithm is drawn")
    if low < least or high > most or (above and low == least):
        bounds = f"above {least:g}" if above else f"at least {least:g}"
        bounds += f" and at most {most:g}" if most < math.inf else ""
        raise InputError(f"{name} is {low:g}" + (f" to {high:g}" if high > low else "") + f"; expected {bounds}")
    return made


def is_range(ends: object) -> bool:
    """Return whether a value is a pair (low, high) of numbers with low ≤ high. Traced numbers may have any order."""
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        return False
    try:
        known = [float(end) for end in ends if not isinstance(end, jax.core.Tracer)]
    except (TypeError, ValueError):
        return False
    return all(map(math.isfinite, known)) and known == sorted(known)


def _number(given: object, name: str) -> float:
    value = given.item() if isinstance(given, np.generic) else given
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < math.inf:
        found = f"'{shown(value)}'" if isinstance(value, str) else shown(value)
        raise InputError(f"{name} is {found}; expected a number, a list of numbers, or low and high")
    if value and not TINIEST <= abs(value) <= HUGEST:
        raise InputError(f"{name} is {shown(value)}; expected 0, or a size from {TINIEST:g} to {HUGEST:g}")
    return float(value)
