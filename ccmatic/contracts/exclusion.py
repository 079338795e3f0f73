"""Exclusions: the executions that a question leaves out, each with a name and a reason."""

from dataclasses import dataclass

from ccmatic.base import InputError

#: Every exclusion that a question may have, and what it leaves out (docs/limits.md). An answer prints those that apply.
EXCLUSIONS = {
    "late losses": "of executions that repeat themselves, those in which a loss is found late",
    "late delays": "of executions that repeat themselves, those in which a sender observes a long delay",
    "packets": "executions with larger packets",
    "assumptions": "executions in which a controller's `assume` is false",
    "before the trace": "executions in which a sender acts on what it knows of bytes that it sent before the trace",
    "published laws": "executions that break a law of the published network",
    "first state": "executions that begin with other state than the controller declares, or with false beliefs",
}


@dataclass(frozen=True)
class Exclusion:
    """Executions that a question leaves out.

    Args:
        name: One of EXCLUSIONS.
        reason: Which executions these are, and why, in words.

    Raises:
        InputError: The name is not declared.
    """

    name: str
    reason: str

    def __post_init__(self) -> None:
        if self.name not in EXCLUSIONS:
            raise InputError(f"found the exclusion '{self.name}'; expected one of {', '.join(EXCLUSIONS)}")

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"
