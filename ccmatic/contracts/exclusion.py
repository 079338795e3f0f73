"""Exclusions: executions that a query does not consider. Each exclusion has a name and a reason."""

from dataclasses import dataclass

from ccmatic.base import InputError

#: Every exclusion that a query may have, and the executions that the exclusion omits (docs/limits.md). An answer
#: prints the exclusions that apply to its query.
EXCLUSIONS = {
    "late losses": "executions that repeat and in which a sender detects a loss late",
    "late delays": "executions that repeat and in which a sender observes a long delay",
    "packets": "executions with large packets",
    "assumptions": "executions in which a controller's `assume` is false",
    "before the trace": "executions in which a sender acts on observations of bytes that it sent before the trace",
    "published laws": "executions that break a law of the published network",
    "seconds": "executions of a controller that reads a second, on paths whose R_m is no second",
    "first state": "executions that begin with state that the controller does not declare, or with false beliefs",
}


@dataclass(frozen=True)
class Exclusion:
    """Executions that a query does not consider.

    Attributes:
        name: One of EXCLUSIONS.
        reason: A description of these executions, and the reason why the query omits them.

    Raises:
        InputError: If EXCLUSIONS does not contain the name.
    """

    name: str
    reason: str

    def __post_init__(self) -> None:
        if self.name not in EXCLUSIONS:
            raise InputError(f"found the exclusion '{self.name}'; expected one of {', '.join(EXCLUSIONS)}")

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"
