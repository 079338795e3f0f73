"""Time limits for queries, from encoding to answer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, process_time


class OutOfTime(Exception):
    """Raised when the time for a query has run out."""


class Clock:
    """Limits the time of each query. It stops no code: code that may take long must call `left`.

    Args:
        seconds: The limit for each query; None for no limit.
        now: The time that counts: `monotonic`, or `process_time` for the CPU seconds of this process, which make a
            search independent of the other work of the machine.
    """

    def __init__(self, seconds: float | None = None, now: Callable[[], float] = monotonic) -> None:
        self.seconds, self.now = seconds, now
        self._end: float | None = None
        #: Whether the last query timed out before a solver received it.
        self.late = False
        self._is_encoded = False

    @staticmethod
    def of(timeout: "float | Clock | None") -> "Clock":
        """Return a clock for a number of seconds, for None (no limit), or for an existing clock, which is shared."""
        return timeout if isinstance(timeout, Clock) else Clock(timeout)

    @property
    def counts_work(self) -> bool:
        return self.now is process_time

    @contextmanager
    def question(self) -> Iterator[None]:
        """Measure the time of a query while the context lasts. A nested context shares the outermost time."""
        if self.seconds is None or self._end is not None:
            yield
            return
        self._end = self.now() + self.seconds
        self._is_encoded = self.late = False
        try:
            yield
        finally:
            self._end = None

    def left(self) -> float | None:
        """Return the remaining seconds, or raise OutOfTime; None without a limit.

        Between queries, return the whole limit.
        """
        if self._end is None:
            return self.seconds
        left = self._end - self.now()
        if left <= 0:
            self.late = not self._is_encoded
            raise OutOfTime("the time is over before the question could be put; expected more, or a shorter horizon")
        return left

    def left_to_solve(self) -> float | None:
        """Return the remaining seconds like `left`, when a solver is about to receive the encoded query."""
        left = self.left()
        self._is_encoded = True
        return left
