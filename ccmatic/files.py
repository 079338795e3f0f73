"""Files, read and written whole. The folder of a file that a person names is there already; folders that a command fills
are made (`writable_folder`)."""

import tempfile
from contextlib import suppress
from pathlib import Path

from ccmatic.errors import Unreadable


def read_text(path):
    """The text of a file; Unreadable, with the reason, if there is none."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise Unreadable(f"cannot read: {error.strerror}", str(path)) from None
    except UnicodeDecodeError:
        raise Unreadable("cannot read: not UTF-8 text", str(path)) from None


def write_text(path, text):
    """Write a text file, whole or not at all; Unreadable, with the reason, if it cannot be."""
    write_bytes(path, text.encode())


def write_bytes(path, content):
    """Write a whole file or nothing, by a temporary neighbour that then takes the name."""
    path = Path(path)
    neighbour = path.with_name(path.name + ".partial")
    try:
        neighbour.write_bytes(content)
        neighbour.replace(path)
    except OSError as error:
        with suppress(OSError):
            neighbour.unlink()
        raise Unreadable(f"cannot write: {error.strerror}", str(path)) from None


def writable_folder(path):
    """A folder in which files can be written: made now, so that work is not lost later; Unreadable if it cannot."""
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise Unreadable(f"cannot write files there: {error.strerror}", str(path)) from None
    return path
