"""Text that people wrote, within generated C, Python and SMT-LIB: whatever it says, it stays text there."""

import re

from ccmatic.base.errors import InputError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

#: What the C that surrounds a controller calls its own.
_TAKEN = ("ccm", "kernel", "log", "udp")


#: Words of C that Python leaves free.
_WORDS = re.compile(
    "auto|bool|case|char|const|default|do|double|enum|extern|false|float|goto|inline|int|long|register|restrict|short|"
    "signed|sizeof|static|struct|switch|true|typedef|union|unsigned|void|volatile"
)


def c_comment(text):
    """The text as a block comment in C, which neither ends nor warns within: the two signs of `*/` and `/*` and
    those of a trigraph stand apart, and only printable characters are left."""
    lines = [_printable(line) for line in text.expandtabs(4).splitlines()]
    for sign, apart in (("*/", "* /"), ("/*", "/ *"), ("??", "? ?"), ("??", "? ?")):
        lines = [line.replace(sign, apart) for line in lines]
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])


def c_name(name, what, file=None):
    """The name, if it can be one in C, in a makefile and of a file. Raises InputError."""
    if not _NAME.fullmatch(name) or name in _TAKEN or _WORDS.fullmatch(name):
        raise InputError(
            f"{what} '{_printable(name):.80}' is no name in C; expected at most 64 letters, digits and _, and "
            f"not {', '.join(_TAKEN)} or a word of C",
            file,
        )
    return name


def docstring(text):
    """The text as a docstring in Python."""
    lines = [_printable(line).replace("\\", "/").replace('"', "'") for line in text.splitlines()]
    return '"""{}"""'.format("\n".join(lines) + ("\n" if text.endswith("\n") else ""))


def smtlib_comment(text):
    """The lines of a text as comments of SMT-LIB."""
    return [f"; {_printable(line)}" for line in text.splitlines()]


def smtlib_name(name):
    """The name of an unknown in SMT-LIB. Raises InputError where it has none."""
    if "|" in name or "\\" in name:
        raise InputError(f"'{name}' is no name in SMT-LIB; expected one without | and \\")
    from pysmt.utils import quote  # not with every other package that stands on this one

    return quote(name)


def _printable(line):
    return "".join(char if char.isprintable() else "?" for char in line)
