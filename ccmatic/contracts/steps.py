"""The values of an execution at each step: numbers, unknowns, or delays in whole steps."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, SupportsIndex, TypeVar, overload

from ccmatic.base import InputError
from ccmatic.logic import Linear, Truth, boolean, every, no

#: Two types: an entry of a column; and laws about columns, each (law name, t, formula).
Number = Linear | Fraction
Laws = Iterable[tuple[str, int, Truth]]

T = TypeVar("T")


class Steps(list[T]):
    """The values at each t.

    Steps rejects negative indices: x.S[t - 1] at t = 0 raises InputError, whereas a list would return the last step.
    """

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


class _Unknowns(Sequence[Truth]):
    """The truth values of an unknown delay at one step.

    A truth value is created when it is first read. The number of all truth values grows with the square of the horizon,
    and a time limit can end an encoding before it has created them.
    """

    def __init__(self, name: str, longest: int) -> None:
        self._name, self._late = name, list[Truth | None]([None]) * longest

    def __len__(self) -> int:
        return len(self._late)

    def __getitem__(self, index: Any) -> Any:
        index = range(len(self._late))[index]
        if self._late[index] is None:
            self._late[index] = boolean(f"{self._name}_{index + 1}")
        return self._late[index]


class Delay:
    """The delay in whole steps of a byte served by t, for each t. The delays have an order encoding.

    For each t, there is a truth value for each statement "the delay is at least k steps", k = 1 … longest.
    """

    def __init__(self, late: Iterable[Sequence[Truth]], longest: int) -> None:
        self.longest = longest
        self._late, self._column = Steps(late), list[Fraction | int]()

    @staticmethod
    def unknown(name: str, horizon: int, longest: int) -> "Delay":
        """Return a delay of unknowns at each of `horizon` steps."""
        return Delay((_Unknowns(f"{name}_{t}", longest) for t in range(horizon)), longest)

    @staticmethod
    def measured(column: Iterable[Fraction | int], longest: int) -> "Delay":
        """Return the delays in a column of a trace. The column may be incomplete; `append` extends the delays."""
        delay = Delay([], longest)
        for steps in column:
            delay.append(steps)
        return delay

    def append(self, steps: Fraction | int) -> None:
        self._late.append([steps >= k for k in range(1, self.longest + 1)])
        self._column.append(steps)

    def steps(self, t: int) -> Fraction | int:
        """Return the delay measured at t, which may exceed `longest`. Unknown delays have no such value."""
        return self._column[t]

    @property
    def most_measured(self) -> int:
        """The longest measured delay, but at most `longest`; 0 for unknowns."""
        return min(self.longest, int(max(self._column, default=0)))

    def at_least(self, t: int, k: int) -> Truth:
        """Return the condition that the delay at t is at least k steps. A k above `longest` counts as `longest`."""
        return True if k <= 0 else self._late[t][min(k, self.longest) - 1]

    def exactly(self, t: int, k: int) -> Truth:
        """Return the condition that the delay at t is in [k, k+1) steps; k = longest includes all longer delays."""
        if k == self.longest:
            return self.at_least(t, k)
        return every(self.at_least(t, k), no(self.at_least(t, k + 1)))

    def last(self, steps: int) -> "Delay":
        """Return the delays of the last `steps` steps only."""
        return Delay(self._late[-steps:], self.longest)

    def then(self, other: "Delay") -> "Delay":
        """Return the delays of these steps, followed by the remaining steps of another Delay."""
        return Delay([*self._late, *other._late[len(self._late) :]], self.longest)

    def pairs(self, column: Sequence[Fraction | int]) -> Iterator[tuple[Truth, bool]]:
        """Yield pairs: a truth value of the order encoding, and its value according to the delays in `column`."""
        for t, row in enumerate(self._late):
            for k, late in enumerate(row, 1):
                yield late, column[t] >= k

    def delays(self, value: Callable[[Truth], bool]) -> tuple[Fraction, ...]:
        """Return the delays as exact numbers. `value` evaluates each truth value of the order encoding."""
        return tuple(Fraction(sum(value(late) for late in row)) for row in self._late)
