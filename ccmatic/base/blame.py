"""Attribution of errors: an error caused by a user's definition is bad input, located at a line of the user's file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ccmatic.base.errors import InputError

_files = set[str]()


def register(file: str | Path) -> None:
    """Register a user's file before running it, so that errors can be attributed to its lines."""
    _files.add(str(Path(file).absolute()))


def blamed_files() -> list[str]:
    """Return the sorted absolute paths of all files registered so far in this process."""
    return sorted(_files)


@contextmanager
def blamed() -> Iterator[None]:
    """Convert errors that a registered file causes to InputError; usable as a context manager or a decorator.

    The error names the innermost line of a registered file that raised the error, directly or through a call. Errors
    from other code pass unchanged.
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
    """Return the file and line of a function, or of a generator's current position.

    For files of ccmatic the result is (None, None).
    """
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
