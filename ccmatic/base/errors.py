"""What ccmatic raises when its input, not its own code, is at fault."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


class InputError(Exception):
    """Bad input: one clear message for a person, which the command line prints before it exits with 2.

    `message` says what was found and what was expected; `file` and `line` say where, if known.
    """

    def __init__(self, message: str, file: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line

    def __str__(self) -> str:
        where = "".join(f"{part}:" for part in (self.file, self.line) if part is not None)
        return f"{where} {self.message}" if where else self.message


@contextmanager
def located(file: str | None) -> Iterator[None]:
    """Within this block an InputError that names no file is given this one."""
    try:
        yield
    except InputError as error:
        error.file = error.file or file
        raise


class TooShort(InputError):
    """A horizon that is too short to decide anything.

    Args:
        problem: What is wrong, without what is expected.
        needed: The least horizon that may do, in steps.
        file: As of InputError.
    """

    def __init__(self, problem: str, needed: int, file: str | None = None) -> None:
        super().__init__(f"{problem}; expected a horizon of {needed} at least", file)
        self.needed = needed


class Unreadable(InputError):
    """A file that is missing, or that cannot be read or written."""


def shown(value: object, most: int = 40) -> str:
    """A value as text that is short enough for a message."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= most else f"{text[:most]}…"


def suggest(word: object, words: Collection[str]) -> str:
    """Return a sentence that names the nearest of `words`, or all of them if none is near."""
    from difflib import get_close_matches  # takes a while to import, for messages alone

    near = get_close_matches(str(word), list(words), n=1)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"known: {', '.join(sorted(words))}"


class Disagreement(Exception):
    """Two solvers gave opposite answers. answers: what each said, by its name; `script` is the query as SMT-LIB 2."""

    def __init__(self, answers: Mapping[str, str], script: str) -> None:
        verdicts = ", ".join(f"{name} says {answer}" for name, answer in answers.items())
        super().__init__(f"the solvers disagree: {verdicts}")
        self.answers, self.script = answers, script

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self.answers), self.script)
