"""Time limits for questions, from encoding to answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic


class OutOfTime(Exception):
    """The time for a question is over."""


class Clock:
    """Limits the time of a question.

    A clock stops nothing by itself: code that may take long must call `left` for the remaining seconds.

    Args:
        seconds: The limit for each question; None for no limit.

    Attributes:
        late: Whether the time for the last question was over before a solver got it.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._seconds = seconds
        self._end: float | None = None
        self._is_encoded = self.late = False

    @staticmethod
    def of(timeout: "float | Clock | None") -> "Clock":
        """Return the clock of a timeout: seconds, None, or an existing clock to share."""
        return timeout if isinstance(timeout, Clock) else Clock(timeout)

    @contextmanager
    def question(self) -> Iterator[None]:
        """Time a question while the context lasts. A nested context shares the time of the outermost one."""
        if self._seconds is None or self._end is not None:
            yield
            return
        self._end = monotonic() + self._seconds
        self._is_encoded = self.late = False
        try:
            yield
        finally:
            self._end = None

    def left(self) -> float | None:
        """Return the remaining seconds, or None without a limit; outside of a question, the whole limit.

        Raises:
            OutOfTime: No time remains.
        """
        if self._end is None:
            return self._seconds
        left = self._end - monotonic()
        if left <= 0:
            self.late = not self._is_encoded
            raise OutOfTime("the time is over before the question could be put; expected more, or a shorter horizon")
        return left

    def left_to_solve(self) -> float | None:
        """Return the remaining seconds like `left`, at the moment when a solver gets the encoded question.

        Raises:
            OutOfTime: No time remains.
        """
        left = self.left()
        self._is_encoded = True
        return left
