"""The programs that run scenarios, and the adaptors that build them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Program:
    """The built program of an adaptor.

    Attributes:
        command: The command that runs scenarios.
        version: The version of the code that the program runs.
        notes: Features of the program, and features that are switched off, such as MTU discovery.
    """

    command: tuple[str, ...]
    version: str
    notes: tuple[str, ...] = ()


class Adaptor(Protocol):
    """The connection of a stack to the path in virtual time.

    Attributes:
        stack: The name of the stack.
        controllers: The names of its controllers.
        toolchain: The least toolchain that builds the adaptor, such as `cargo 1.85`.
        version: The version of the stack that is built by default.
    """

    stack: str
    controllers: tuple[str, ...]
    toolchain: str
    version: str

    def build(self, version: str | None = None, source: Path | None = None) -> Program:
        """Build the program, or take it from the cache.

        Args:
            version: A version of the stack; None for the default one.
            source: A folder with the stack's sources, in place of a version.

        Raises:
            InputError: If a tool is missing, or the build fails.
        """
        ...
