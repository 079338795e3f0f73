"""The programs that run scenarios, and the adaptors that build them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Program:
    """The built program of an adaptor."""

    command: tuple[str, ...]  #: The command that runs scenarios.
    version: str  #: The version of the code that the program runs.
    notes: tuple[str, ...] = ()  #: Features of the program, and features that are switched off, such as MTU discovery.


class Adaptor(Protocol):
    """The connection of a stack to the path in virtual time."""

    stack: str  #: The name of the stack.
    controllers: tuple[str, ...]  #: The names of its controllers.
    toolchain: str  #: The least toolchain that builds the adaptor, such as `cargo 1.85`.
    version: str  #: The version of the stack that is built by default.

    def build(self, version: str | None = None, source: Path | None = None) -> Program:
        """Build the program, or take it from the cache."""
        ...
