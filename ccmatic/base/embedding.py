"""User-written text in generated C, Python and SMT-LIB. The text is embedded such that it never becomes code."""

import re

from ccmatic.base.errors import InputError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

#: The names that the C code around a controller itself uses.
_TAKEN = ("ccm", "kernel", "log", "udp")


#: Keywords of C that are valid names in Python.
_WORDS = re.compile(
    "auto|bool|case|char|const|default|do|double|enum|extern|false|float|goto|inline|int|long|register|restrict|short|"
    "signed|sizeof|static|struct|switch|true|typedef|union|unsigned|void|volatile"
)


def c_comment(text):
    """Return the text as a block comment in C. No content of the text can end the comment.

    Spaces separate the characters of `*/`, of `/*` and of trigraphs. Other characters replace unprintable ones.
    """
    lines = [_printable(line) for line in text.expandtabs(4).splitlines()]
    # "??" is separated twice: one pass turns "???" into "? ??".
    for sign, apart in (("*/", "* /"), ("/*", "/ *"), ("??", "? ?"), ("??", "? ?")):
        lines = [line.replace(sign, apart) for line in lines]
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])


def c_name(name, what, file=None):
    """Return the name if it is valid in C, in a makefile and as a file name. Otherwise raise InputError."""
    if not _NAME.fullmatch(name) or name in _TAKEN or _WORDS.fullmatch(name):
        raise InputError(
            f"{what} '{_printable(name):.80}' is no name in C; expected at most 64 letters, digits and _, and "
            f"not {', '.join(_TAKEN)} or a word of C",
            file,
        )
    return name


def docstring(text):
    lines = [_printable(line).replace("\\", "/").replace('"', "'") for line in text.splitlines()]
    return '"""{}"""'.format("\n".join(lines) + ("\n" if text.endswith("\n") else ""))


def smtlib_comment(text):
    return [f"; {_printable(line)}" for line in text.splitlines()]


def smtlib_name(name):
    """Return the name of an unknown as a symbol of SMT-LIB, or raise InputError if SMT-LIB cannot express it."""
    if "|" in name or "\\" in name:
        raise InputError(f"'{name}' is no name in SMT-LIB; expected one without | and \\")
    from pysmt.utils import quote  # imported here, because every package imports this module

    return quote(name)


def _printable(line):
    return "".join(char if char.isprintable() else "?" for char in line)
