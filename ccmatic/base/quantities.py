"""Exact numbers, quantities as users write them, such as "24mbit", "40ms" or "2bdp", and their units."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational

from ccmatic.base.errors import InputError, shown

#: The units of rates in bytes per second, of durations in seconds, and of sizes in bytes. Prefixes are decimal.
RATES = {"bit": Fraction(1, 8), "kbit": Fraction(125), "mbit": Fraction(125_000), "gbit": Fraction(125_000_000)}
DURATIONS = {"ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "ms": Fraction(1, 1000), "s": Fraction(1)}
SIZES = {"": Fraction(1), "b": Fraction(1), "kb": Fraction(1000), "mb": Fraction(10**6)}

#: The largest number of digits of a numerator and of a denominator.
DIGITS = 1000

_NUMBER = re.compile(r"[+-]?(?:\d+(?:/\d+)?|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)", re.ASCII | re.IGNORECASE)

QUANTITY = re.compile(r"(\d{1,30}(?:\.\d{1,30})?|\d{1,30}/\d{1,30})\s*([a-z]*)", re.ASCII)


def exact(value: object, digits: int = DIGITS) -> Fraction:
    """Return an integer, or a text such as "-3/10", "0.3" or "1e-3", as a Fraction of at most `digits` digits."""
    number = value
    if isinstance(value, str):
        text = value.strip()
        _, _, power = text.lower().partition("e")
        if len(text) > 3 * digits or len(power) > 20:
            number = None
        elif not _NUMBER.fullmatch(text):
            number = value
        else:
            number = _fraction(text) if abs(int(power or 0)) <= digits else None
    if number is not None and (not isinstance(number, Rational) or isinstance(number, bool)):
        raise InputError(f'found \'{shown(value)}\'; expected an exact number such as 3, "3/10" or "0.3"')
    fraction = None if number is None else Fraction(number)
    if fraction is None or max(abs(fraction.numerator), fraction.denominator) >= 10**digits:
        raise InputError(f"found '{shown(value)}'; expected a number of at most {digits} digits")
    return fraction


def _fraction(text: str) -> Fraction:
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise InputError(f"found '{text:.40}', which divides by 0; expected a number") from None


def rate(text: str) -> Fraction:
    """Return the rate in bytes per second, above 0, of a text such as "24mbit", "1/2gbit" or "1.5kbit"."""
    return _positive(_read(text, RATES, "a rate such as 24mbit"), text, "rate")


def duration(text: str) -> Fraction:
    """Return the duration in seconds, at least 0, of a text such as "40ms" or "2.5s"."""
    return _read(text, DURATIONS, "a duration such as 40ms")


def size(text: str, bdp: Fraction | int) -> Fraction:
    """Return the exact size in bytes, above 0, of a text such as "30000", "30kb" or "1/4bdp"."""
    amount = _read(text, {**SIZES, "bdp": Fraction(bdp)}, "a size such as 2bdp or 30000 (bytes)")
    return _positive(amount, text, "size")


def in_unit(text: object, unit: str) -> Fraction | None:
    """Return the number in a text such as "3/2 rtt"; None if the text does not have this unit."""
    match = QUANTITY.fullmatch(str(text).strip().lower())
    return _fraction(match[1]) if match and match[2] == unit else None


def _read(text: str, units: Mapping[str, Fraction], expected: str) -> Fraction:
    match = QUANTITY.fullmatch(str(text).strip().lower())
    if not match or match[2] not in units:
        raise InputError(f"cannot read '{text}'; expected {expected}; units: {', '.join(filter(None, units))}")
    return _fraction(match[1]) * units[match[2]]


def _positive(value: Fraction, text: str, what: str) -> Fraction:
    if value <= 0:
        raise InputError(f"a {what} of '{text}'; expected more than 0")
    return value


@dataclass(frozen=True)
class Unit:
    """The unit bytes**bytes_power · seconds**seconds_power. Units multiply and divide like the quantities."""

    bytes_power: int = 0
    seconds_power: int = 0

    def __mul__(self, other: "Unit") -> "Unit":
        return Unit(self.bytes_power + other.bytes_power, self.seconds_power + other.seconds_power)

    def __truediv__(self, other: "Unit") -> "Unit":
        return Unit(self.bytes_power - other.bytes_power, self.seconds_power - other.seconds_power)

    def __str__(self) -> str:
        name = _NAMES.get(self)
        if name is None:
            name = f"bytes^{self.bytes_power}·seconds^{self.seconds_power}"
        return name


NUMBER = Unit()
BYTES = Unit(1, 0)
TIME = Unit(0, 1)
RATE = BYTES / TIME

_NAMES = {NUMBER: "number", BYTES: "bytes", TIME: "time", RATE: "rate"}

#: Stands for the unit of values that are true or false.
CONDITION = "condition"

#: The constants that every controller may read: the propagation delay, the jitter bound, the largest packet.
CONSTANTS = {"R_m": TIME, "D": TIME, "MSS": BYTES}
