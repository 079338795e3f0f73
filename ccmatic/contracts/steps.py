"""What stands in an execution at each step: numbers or unknowns, and delays in whole steps."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, SupportsIndex, TypeVar, overload

from ccmatic.base import InputError
from ccmatic.logic import Linear, Truth, boolean, every, no

#: What stands in a column; and what is true of columns: (law name, t, formula) each.
Number = Linear | Fraction
Laws = Iterable[tuple[str, int, Truth]]

T = TypeVar("T")


class Steps(list[T]):
    """What an execution has at each t. Unlike a list's, its steps do not count from the end: x.S[t - 1] at t = 0 is
    refused, with InputError, and is not the last step."""

    @overload
    def __getitem__(self, t: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, t: slice) -> list[T]: ...

    def __getitem__(self, t: Any) -> Any:
        if isinstance(t, int) and not 0 <= t < len(self):
            raise InputError(
                f"step {t} is not in the trace; expected one from 0 to x.horizon - 1, which is {len(self) - 1}"
            )
        return super().__getitem__(t)


class Delay:
    """Whole steps of delay of a byte served by t, at each t, in order encoding: `late[t]` has one truth value for
    each of "at least k steps", k = 1 … longest."""

    def __init__(self, late: Iterable[list[Truth]], longest: int) -> None:
        self.longest = longest
        self._late, self._column = Steps(late), list[Fraction | int]()

    @staticmethod
    def unknown(name: str, horizon: int, longest: int) -> "Delay":
        """A delay of unknowns, at each of `horizon` steps."""
        return Delay(([boolean(f"{name}_{t}_{k}") for k in range(1, longest + 1)] for t in range(horizon)), longest)

    @staticmethod
    def measured(column: Iterable[Fraction | int], longest: int) -> "Delay":
        """The delays in a trace's column, or in as much of one as there is yet; `append` adds to it."""
        delay = Delay([], longest)
        for steps in column:
            delay.append(steps)
        return delay

    def append(self, steps: Fraction | int) -> None:
        """A delay measured at the next t."""
        self._late.append([steps >= k for k in range(1, self.longest + 1)])
        self._column.append(steps)

    def steps(self, t: int) -> Fraction | int:
        """The delay measured at t, which may be more than `longest`; of numbers only."""
        return self._column[t]

    @property
    def most_measured(self) -> int:
        """The longest delay that was measured, as far as delays are told apart; 0 of unknowns."""
        return min(self.longest, int(max(self._column, default=0)))

    def at_least(self, t: int, k: int) -> Truth:
        """The delay measured at t is k steps or more. Delays of `longest` steps or more are not told apart."""
        return True if k <= 0 else self._late[t][min(k, self.longest) - 1]

    def exactly(self, t: int, k: int) -> Truth:
        """The delay measured at t is in [k, k+1) steps; k = longest stands for all that is longer."""
        if k == self.longest:
            return self.at_least(t, k)
        return every(self.at_least(t, k), no(self.at_least(t, k + 1)))

    def last(self, steps: int) -> "Delay":
        """The delays measured at so many last steps, alone."""
        return Delay(self._late[-steps:], self.longest)

    def then(self, other: "Delay") -> "Delay":
        """These steps, and then what another has after as many."""
        return Delay([*self._late, *other._late[len(self._late) :]], self.longest)

    def pairs(self, column: Sequence[Fraction | int]) -> Iterator[tuple[Truth, bool]]:
        """Each truth value with what it is for the measured delays in `column`."""
        for t, row in enumerate(self._late):
            for k, late in enumerate(row, 1):
                yield late, column[t] >= k

    def delays(self, value: Callable[[Truth], bool]) -> tuple[Fraction, ...]:
        """The measured delays, exact as all columns, `value` giving each truth value."""
        return tuple(Fraction(sum(value(late) for late in row)) for row in self._late)
