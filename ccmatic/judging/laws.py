"""The exact check of a recording: it decides again, from the log alone, what the path did."""

from collections.abc import Iterator
from typing import Any


def faults(recording: Any) -> Iterator[str]:
    """Yield a sentence for each law that a recording breaks."""
    yield from ()
