"""The time that a question may take, from its encoding to its answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic


class OutOfTime(Exception):
    """The time for a question is over."""


class Clock:
    """Limits how long a question may take. seconds: for each question; None: any time.

    A clock stops nothing by itself: whatever may take long asks it for the seconds `left`.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds = seconds
        self._end: float | None = None

    @staticmethod
    def of(timeout: "float | Clock | None") -> "Clock":
        """The clock of a timeout: seconds, None, or a clock that others look at, too."""
        return timeout if isinstance(timeout, Clock) else Clock(timeout)

    @contextmanager
    def question(self) -> Iterator[None]:
        """Time runs while this block does. A block within another shares the time of the outermost."""
        if self._seconds is None or self._end is not None:
            yield
            return
        self._end = monotonic() + self._seconds
        try:
            yield
        finally:
            self._end = None

    def left(self) -> float | None:
        """Seconds that are left, or None if time is not limited; outside of a question, all of them. Raises
        OutOfTime."""
        if self._end is None:
            return self._seconds
        left = self._end - monotonic()
        if left <= 0:
            raise OutOfTime("the time is over before the question could be put; expected more, or a shorter horizon")
        return left
