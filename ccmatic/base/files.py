"""Reading and writing of whole files, and of the texts in them: TOML, JSON and Python.

If a user names an output file, its folder must exist. If a command fills a whole folder, `writable_folder` creates this
folder.
"""

import ast
import json
import os
import re
import stat
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Literal, overload

from ccmatic.base.errors import InputError, Unreadable, located, shown
from ccmatic.base.quantities import exact

#: Limits on the size in bytes of any input file; on the size of a TOML file, because parsing its dotted keys takes
#: quadratic time; and on the nesting depth of lists and objects in JSON and TOML.
LARGEST, LARGEST_TOML, DEEPEST = 64 * 2**20, 16 * 2**10, 20

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


@contextmanager
def opened(path):
    """Open a regular file for reading bytes, or raise Unreadable.

    Every input file is opened here. Opening a named pipe in another way could block, and reading a device might never
    end.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            kind = stat.S_IFMT(os.fstat(file.fileno()).st_mode)
            if kind != stat.S_IFREG:
                label = _KINDS.get(kind, "a device")
                raise Unreadable(f"cannot read: {label}; expected a regular file", str(path))
            yield file
    except FileNotFoundError as error:
        raise Unreadable(f"cannot read: {error.strerror}{_nearest(path)}", str(path)) from None
    except OSError as error:
        raise Unreadable(f"cannot read: {error.strerror}", str(path)) from None


def _nearest(path):
    """Return a suggestion that names the file with the most similar name in the folder; empty if none is similar."""
    from difflib import get_close_matches  # imported here: slow to import, and only messages need it

    path = Path(path)
    with suppress(OSError):
        names = [each.name for each in islice(path.parent.iterdir(), 1000)]
        for name in get_close_matches(path.name, names, n=1, cutoff=0.8):
            return f"; did you mean '{shown(str(path.with_name(name)), 200)}'?"
    return ""


_KINDS = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}


def _without_waiting(path, flags):  # opening a named pipe that nobody writes would block
    return os.open(path, flags | os.O_NONBLOCK)


def read_text(path, most=LARGEST):
    r"""Return the text of a file of at most `most` bytes, with line ends as "\n" and without a byte order mark."""
    try:
        with opened(path) as file:
            content = file.read(most + 1)
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise Unreadable("cannot read: not UTF-8 text", str(path)) from None
    except ValueError as error:
        raise Unreadable(f"cannot read: {error}", str(path)) from None
    if len(content) > most:
        size = f"{most / 2**20:g} MiB" if most >= 2**20 else f"{most / 2**10:g} KiB"
        raise Unreadable(f"cannot read: it is larger than {size}, the limit", str(path))
    return text


def line_of(text, word):
    """Return the line number of the TOML section or key with this name, or None."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*\[?\s*\"?{re.escape(word)}\b", line):
            return number
    return None


@contextmanager
def located_in(file, text, sections):
    """Add a TOML file to each InputError that names no file, and the line of the key that the message is about."""
    try:
        yield
    except InputError as error:
        if error.file is None:
            error.file, error.line = str(file), _line_meant(text, sections, error.message)
        raise


def _line_meant(text, sections, message):
    """Return the line of the key whose text a message quotes, or of the first key that the message names."""
    keys = [(section, key, value) for section, values in sections.items() for key, value in values.items()]
    quoted = [(section, key) for section, key, value in keys if isinstance(value, str) and f"'{value}'" in message]
    named = [(section, key) for word in re.findall(r"\w+", message) for section, key, _ in keys if key == word]
    for section, key in (quoted + named)[:1]:
        start = line_of(text, section) or 0
        within = line_of("\n".join(text.splitlines()[start:]), key)
        return start + within if within else line_of(text, key)
    return None


def parse_json(text, file=None, expected=None, number=float):
    """Return the data in JSON text. `number` is the type of numbers with a decimal point, such as Decimal.

    Raise an InputError that names `file` and `expected` if the text is no JSON, has duplicate keys or control
    characters, or is nested deeper than DEEPEST.
    """
    try:
        with located(file):
            data = json.loads(text, object_pairs_hook=_no_doubles, parse_float=number)
        for level in _levels(data, file):
            control = next((text for text in level if isinstance(text, str) and _CONTROL.search(text)), None)
            if control is not None:
                raise InputError(f"a text with a control character, {control[:40]!r}; expected none", file)
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg}"
        raise InputError(f"{problem}; expected {expected}" if expected else problem, file, error.lineno) from None
    except ValueError:
        raise InputError("an integer of thousands of digits; expected fewer", file) from None
    except ArithmeticError:  # only a Decimal refuses such a number
        raise InputError("an exponent of more than 18 digits; expected fewer", file) from None
    except RecursionError:
        raise _too_deep(file) from None
    return data


def load_toml(path, exactly=False):
    """Return the sections of a TOML file, and its text. `exactly` makes decimal numbers Fractions instead of floats."""
    import tomllib  # imported here, because few commands read TOML

    text = read_text(path, LARGEST_TOML)
    number = (lambda digits: exact(digits.replace("_", ""))) if exactly else float
    try:
        with located(str(path)):
            sections = tomllib.loads(text, parse_float=number)
            for level in _levels(sections):
                for whole in level:
                    if type(whole) is int:  # a bool is also an int
                        exact(whole)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not TOML: {error}", str(path)) from None
    return sections, text


#: In Python 3.11, two threads that parse at the same time may get a SystemError: "AST constructor recursion depth
#: mismatch". All threads share one depth, and a garbage collection may switch threads during the parse.
_PARSING = Lock()


@overload
def syntax_tree(text: str, mode: Literal["exec"] = "exec") -> ast.Module: ...
@overload
def syntax_tree(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def syntax_tree(text: str, mode: Literal["exec", "eval"] = "exec") -> ast.Module | ast.Expression:
    """Return the syntax tree of a Python text, as `ast.parse` does. One thread at a time parses."""
    with _PARSING:
        return ast.parse(text, mode=mode)


def _levels(data, file=None):
    """Yield the contents of lists and objects, level by level. Raise InputError beyond DEEPEST levels."""
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
        raise InputError(f"duplicate keys among {', '.join(shown(name) for name, _ in pairs[:20])}")
    return data


def _children(node):
    return node if isinstance(node, list) else [*node, *node.values()]


def write_text(path, text):
    write_bytes(path, text.encode())


def write_bytes(path, content):
    """Write a file atomically, through a temporary file beside it. A device or a pipe is written directly."""
    path = Path(path)
    try:
        if path.is_file():
            _replace(path.resolve(), content)  # a link stays
        elif path.exists():
            path.write_bytes(content)
        else:
            _replace(path, content)
    except OSError as error:
        raise Unreadable(f"cannot write: {error.strerror}", str(path)) from None


def _replace(path, content):
    neighbour = path.with_name(path.name + ".partial")
    try:
        neighbour.write_bytes(content)
        neighbour.replace(path)
    except OSError:
        with suppress(OSError):
            neighbour.unlink()
        raise


def require_folder(path):
    """Raise Unreadable if the folder of a file that will be written does not exist."""
    folder = Path(path).parent
    if not folder.is_dir():
        raise Unreadable("there is no such folder to write to", str(folder))


def writable_folder(path):
    """Create a folder if necessary, and check that files can be written to it, before long work begins."""
    import tempfile  # imported here, because few commands fill folders

    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise Unreadable(f"cannot write files there: {error.strerror}", str(path)) from None
    return path
