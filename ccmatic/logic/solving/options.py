"""The options of solvers: the solvers that decide, their time limit, and their seed."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pysmt
import z3

from ccmatic.base import Clock, InputError, shown
from ccmatic.base.memory import Memory

NAMES = ("z3", "cvc5", "yices")

#: Upper limits on seconds and on seeds, because solvers store milliseconds and seeds in 32 bits.
LONGEST, LAST_SEED = 2**32 // 1000, 2**32 - 1


@dataclass(frozen=True)
class SolverOptions:
    """Options for the solvers.

    Attributes:
        solvers: The names of solvers, each one of `NAMES`. Each solver decides every question, and all answers must
            agree.
        timeout: The number of seconds for each question, a Clock that several questions share, or None for no limit.
        seed: The seed of the search.
        memory: The Memory whose answers may replace the solvers' work; None if the solvers decide every question.

    Raises:
        InputError: If a value has a wrong type, or is out of its range.
    """

    solvers: tuple[str, ...] = ("z3",)
    timeout: "float | Clock | None" = None
    seed: int = 0
    memory: Memory | None = None

    def __post_init__(self) -> None:
        named = isinstance(self.solvers, tuple | list) and self.solvers
        if not named or not all(name in NAMES for name in self.solvers):
            expected = f"a tuple of some of {', '.join(NAMES)}, such as ('z3',)"
            raise InputError(f"solvers is {_quoted(self.solvers)}; expected {expected}")
        if not (self.timeout is None or isinstance(self.timeout, Clock) or _is_number(self.timeout, LONGEST)):
            expected = f"seconds, above 0 and at most {LONGEST}, or None for any time"
            raise InputError(f"the timeout is {_quoted(self.timeout)}; expected {expected}")
        if type(self.seed) is not int or not 0 <= self.seed <= LAST_SEED:
            raise InputError(f"the seed is {_quoted(self.seed)}; expected a whole number from 0 to {LAST_SEED}")

    def settings(self) -> dict[str, Any] | None:
        """Return everything that influences Z3's answers, including its version; None for other solvers."""
        if tuple(self.solvers) != ("z3",):
            return None
        versions = {"z3": z3.get_full_version(), "pysmt": pysmt.__version__}
        return {"seconds": repr(Clock.of(self.timeout).seconds), "seed": self.seed, **versions}

    def with_clock(self, clock: Clock) -> "SolverOptions":
        return replace(self, timeout=clock)


def _is_number(value: object, most: int) -> bool:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool) and 0 < value <= most


def _quoted(value: object) -> str:
    return shown(repr(value) if isinstance(value, str) else value)
