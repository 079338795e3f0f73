"""Whose turn it is where several processes run tests at the same time (`pytest -n 2`)."""

from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_SH, LOCK_UN, flock
from pathlib import Path

#: Files that are locked, any two: who comes next, and who is there.
NEXT, THERE = Path(__file__), Path(__file__).with_name("__init__.py")


@contextmanager
def turn(alone):
    """A test's turn. One that is to be alone waits until the others have ended, and none begins meanwhile."""
    with NEXT.open() as first, THERE.open() as there:
        flock(first, LOCK_EX)
        flock(there, LOCK_EX if alone else LOCK_SH)
        flock(first, LOCK_UN)
        try:
            yield
        finally:
            flock(there, LOCK_UN)  # Closing it would not do where a process that a test left has it open.
