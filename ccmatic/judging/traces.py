"""Parts of a recording as executions of the models."""

from typing import Any

from ccmatic.base import InputError
from ccmatic.traces import Trace


def trace(recording: Any) -> Trace:
    """Return a part of a recording as a Trace."""
    raise InputError("a recording is no trace yet")
