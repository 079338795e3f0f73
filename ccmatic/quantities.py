"""Quantities with units, as people write them: "24mbit", "40ms", "2bdp"; read exactly."""

import re
from fractions import Fraction

from ccmatic.errors import InputError

#: Bytes a second in one of each unit; seconds in one of each; bytes in one of each. Prefixes are decimal.
RATES = {"bit": Fraction(1, 8), "kbit": Fraction(125), "mbit": Fraction(125_000), "gbit": Fraction(125_000_000)}
DURATIONS = {"ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "ms": Fraction(1, 1000), "s": Fraction(1)}
SIZES = {"": Fraction(1), "b": Fraction(1), "kb": Fraction(1000), "mb": Fraction(10**6)}

QUANTITY = re.compile(r"(\d{1,30}(?:\.\d{1,30})?|\d{1,30}/\d{1,30})\s*([a-z]*)", re.ASCII)


def rate(text):
    """Bytes per second, a Fraction above 0, of "24mbit", "1/2gbit", "1.5kbit". Raises InputError."""
    return _positive(_read(text, RATES, "a rate such as 24mbit"), text, "rate")


def duration(text):
    """Seconds, a Fraction of at least 0, of "40ms", "2.5s". Raises InputError."""
    return _read(text, DURATIONS, "a duration such as 40ms")


def size(text, bdp):
    """Whole bytes, at least 1, rounded down, of "30000", "30kb", or "1/4bdp", where a BDP is `bdp` bytes. Raises
    InputError."""
    exact = _read(text, {**SIZES, "bdp": Fraction(bdp)}, "a size such as 2bdp or 30000 (bytes)")
    return int(_positive(exact // 1, text, "size"))


def _read(text, units, expected):
    found = QUANTITY.fullmatch(str(text).strip().lower())
    if not found or found[2] not in units:
        raise InputError(f"cannot read '{text}'; expected {expected}; units: {', '.join(filter(None, units))}")
    try:
        return Fraction(found[1]) * units[found[2]]
    except ZeroDivisionError:
        raise InputError(f"cannot read '{text}': it divides by 0") from None


def _positive(value, text, what):
    if value <= 0:
        raise InputError(f"a {what} of '{text}'; expected more than 0")
    return value
