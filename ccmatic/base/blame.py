"""Whose fault an error is: what comes of a definition that a person wrote is bad input, at a line of that file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ccmatic.base.errors import InputError

_files = set[str]()


def register(file: str | Path) -> None:
    """Say that a person's file, not one that ccmatic ships, is about to be run: its lines can then be blamed."""
    _files.add(str(Path(file).absolute()))


def blamed_files() -> list[str]:
    """The absolute paths of all files registered so far in this process, sorted."""
    return sorted(_files)


@contextmanager
def blamed() -> Iterator[None]:
    """Within this block, or in a function so decorated, an error that a line of a registered file raises, itself or by
    what it calls, becomes an InputError that names the innermost such line. Other errors pass as they are."""
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
    """File and line of a function, or of the place that a generator has reached; (None, None) if no person wrote it."""
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
