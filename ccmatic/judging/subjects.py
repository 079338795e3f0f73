"""Subjects: the code that is judged, by name, and how it is built."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ccmatic.judging.builds import cache, controller_command, path_library

__all__ = ["Adaptor", "Program", "Subject", "cache", "controller_command", "path_library"]


@dataclass(frozen=True)
class Program:
    """The built program of an adaptor.

    Attributes:
        command: The command that runs scenarios.
        version: The version of the code that the program runs.
        notes: Features, and what is switched off, such as MTU discovery.
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


@dataclass(frozen=True)
class Subject:
    """A controller that is judged.

    Attributes:
        name: The name, such as `quinn:cubic`.
        adaptor: The Adaptor.
        controller: The name of the controller in the adaptor.
        program: The built Program.
    """

    name: str
    adaptor: Adaptor
    controller: str
    program: Program
