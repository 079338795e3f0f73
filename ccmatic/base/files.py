"""Files, read and written whole. The folder of a file that a person names is there already; folders that a command
fills are made (`writable_folder`)."""

import json
import os
import re
import stat
from contextlib import contextmanager, suppress
from pathlib import Path

from ccmatic.base.errors import InputError, Unreadable, located, shown
from ccmatic.base.quantities import exact

#: The most bytes of a file that is read, and of one of TOML, whose keys of many parts take the square of their length;
#: the most levels of lists and objects within JSON and TOML.
LARGEST, LARGEST_TOML, DEEPEST = 64 * 2**20, 16 * 2**10, 20

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


@contextmanager
def opened(path):
    """The binary file at `path`, to read. Every input file is opened here, as a named pipe would block and a device may
    never end. Raises Unreadable, with the reason, for what cannot be opened or is no regular file."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            kind = stat.S_IFMT(os.fstat(file.fileno()).st_mode)
            if kind != stat.S_IFREG:
                label = _KINDS.get(kind, "a device")
                raise Unreadable(f"cannot read: {label}; expected a regular file", str(path))
            yield file
    except OSError as error:
        raise Unreadable(f"cannot read: {error.strerror}", str(path)) from None


_KINDS = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}


def _without_waiting(path, flags):
    return os.open(path, flags | os.O_NONBLOCK)


def read_text(path, most=LARGEST):
    """The text of a file of at most so many bytes; Unreadable, with the reason, if there is none."""
    try:
        with opened(path) as file:
            content = file.read(most + 1)
        text = content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise Unreadable("cannot read: not UTF-8 text", str(path)) from None
    except ValueError as error:
        raise Unreadable(f"cannot read: {error}", str(path)) from None
    if len(content) > most:
        size = f"{most / 2**20:g} MiB" if most >= 2**20 else f"{most / 2**10:g} KiB"
        raise Unreadable(f"cannot read: it holds more than {size}, the most that is read", str(path))
    return text


def line_of(text, word):
    """The number of the line of TOML on which a section or a key of this name begins; None if there is none."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*\[?\s*\"?{re.escape(word)}\b", line):
            return number
    return None


def parse_json(text, file=None):
    """The data in JSON text, nested no deeper than DEEPEST. Raises InputError that names `file`."""
    try:
        with located(file):
            data = json.loads(text, object_pairs_hook=_no_doubles)
        for level in _levels(data, file):
            control = next((text for text in level if isinstance(text, str) and _CONTROL.search(text)), None)
            if control is not None:
                raise InputError(f"a text with a control character, {control[:40]!r}; expected none", file)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", file, error.lineno) from None
    except ValueError:
        raise InputError("a whole number of thousands of digits; expected fewer", file) from None
    except RecursionError:
        raise _too_deep(file) from None
    return data


def load_toml(path, exactly=False):
    """(The sections of a TOML file, its text.) exactly: numbers with a point are Fractions instead of floats. Raises
    InputError, which names the file."""
    import tomllib  # as few commands read TOML

    text = read_text(path, LARGEST_TOML)
    number = (lambda digits: exact(digits.replace("_", ""))) if exactly else float
    try:
        with located(str(path)):
            sections = tomllib.loads(text, parse_float=number)
            for level in _levels(sections):
                for whole in level:
                    if type(whole) is int:  # a truth value is an int as well
                        exact(whole)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not TOML: {error}", str(path)) from None
    return sections, text


def _levels(data, file=None):
    """What lists and objects hold, level by level. Raises InputError if there are more than DEEPEST."""
    level = [data]
    for _ in range(DEEPEST):
        level = [child for node in level if isinstance(node, list | dict) for child in _children(node)]
        yield level
    if any(isinstance(node, list | dict) for node in level):
        raise _too_deep(file)


def _too_deep(file):
    return InputError(f"nested too deeply; expected at most {DEEPEST} levels", file)


def _no_doubles(pairs):
    data = dict(pairs)
    if len(data) < len(pairs):
        raise InputError(f"two keys of one name among {', '.join(shown(name) for name, _ in pairs[:20])}")
    return data


def _children(node):
    return node if isinstance(node, list) else [*node, *node.values()]


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
    import tempfile  # as few commands fill folders

    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise Unreadable(f"cannot write files there: {error.strerror}", str(path)) from None
    return path
