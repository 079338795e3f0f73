"""Errors whose cause is the input, not ccmatic's own code. A user's definition is input, too."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any


class InputError(Exception):
    """Bad input. The command line prints the error's single message and exits with 2.

    Attributes:
        message: A text that states the problem and the expected input.
        file: The file that contains the bad input, if known.
        line: The line of the bad input, if known.
    """

    def __init__(self, message: str, file: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the constructor, so that subclasses with other arguments can pass between processes."""
        return _restored, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        where = "".join(f"{part}:" for part in (self.file, self.line) if part is not None)
        return f"{where} {self.message}" if where else self.message


def _restored(kind: type[InputError], args: tuple[Any, ...], fields: Mapping[str, Any]) -> InputError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


@contextmanager
def located(file: str | None) -> Iterator[None]:
    """Add a file to each InputError that names no file, while the context lasts."""
    try:
        yield
    except InputError as error:
        error.file = error.file or file
        raise


class TooShort(InputError):
    """The error that a horizon is too short to decide anything; `needed` steps are the least that may suffice."""

    def __init__(self, problem: str, needed: int, file: str | None = None) -> None:
        super().__init__(f"{problem}; expected a horizon of {needed} at least", file)
        self.needed = needed


class BetweenSteps(InputError):
    """The error that a time is no whole number of a network's steps. Both are in R_m."""

    def __init__(self, rounds: Fraction, step: Fraction) -> None:
        nearest = ceil(rounds / step) * step
        problem = f"{rounds} rtt is no whole number of steps, and a step of this network is {step} rtt"
        super().__init__(f"{problem}; expected such as {nearest} rtt")
        self.rounds, self.step = rounds, step


class Unreadable(InputError):
    """The error that a file is missing, or cannot be read or written."""


def shown(value: object, most: int = 40) -> str:
    """Return a value as text of at most `most` characters in one line, for messages."""
    try:
        text = str(value) if isinstance(value, str | Fraction) else repr(value)
    except ValueError:
        return "a number of thousands of digits"
    text = text if len(text) <= most else f"{text[:most]}…"
    return "".join(letter if letter.isprintable() else " " for letter in text)


def suggest(word: object, words: Collection[str]) -> str:
    """Return a sentence that names the word nearest to `word`, or all `words` if none is near."""
    from difflib import get_close_matches  # imported here: slow to import, and only messages need it

    near = get_close_matches(str(word), list(words), n=1)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"known: {', '.join(sorted(words))}"


class SolverEnded(Exception):
    """The error that a solver's program ended before it answered. The question stays undecided."""


class Disagreement(Exception):
    """The error that two solvers gave opposite answers to `script`, a query in SMT-LIB 2."""

    def __init__(self, answers: Mapping[str, str], script: str) -> None:
        verdicts = ", ".join(f"{name} says {answer}" for name, answer in answers.items())
        super().__init__(f"the solvers disagree: {verdicts}")
        self.answers, self.script = answers, script

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self.answers), self.script)


_files = set[str]()


def register(file: str | Path) -> None:
    """Register a user's file before it is run, so that errors can be attributed to its lines."""
    _files.add(str(Path(file).absolute()))


def blamed_files() -> list[str]:
    return sorted(_files)


@contextmanager
def blamed() -> Iterator[None]:
    """Convert errors that a registered file causes to InputError; usable as a context manager or a decorator.

    The error names the innermost line of a registered file that raised the error, directly or through a call.
    """
    try:
        yield
    except InputError as error:
        if error.file is None:
            error.file, error.line = _place(error) or (None, error.line)
        raise
    except (Exception, SystemExit) as error:
        place = _place(error)
        if place is None:
            raise
        raise InputError(f"{type(error).__name__}: {error}", *place) from None


def place_of(part: object) -> tuple[str | None, int | None]:
    """Return the file and line of a function, or of a generator's current position; None twice for files of ccmatic."""
    code = getattr(part, "gi_code", None) or getattr(part, "__code__", None)
    if code is None or code.co_filename not in _files:
        return None, None
    frame = getattr(part, "gi_frame", None)
    return code.co_filename, frame.f_lineno if frame else code.co_firstlineno


def _place(error: BaseException) -> tuple[str, int] | None:
    place, step = None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename in _files:
            place = step.tb_frame.f_code.co_filename, step.tb_lineno
        step = step.tb_next
    return place
