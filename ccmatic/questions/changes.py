"""Changes of a path in the notation of users: `outage 2 rtt`, `change rtt x2 rate x1/2`, `queue lost`, `at 3 rtt`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ccmatic.base import InputError, exact, quantities, shown

#: An example of each part of the description of a change.
KEYS = {"outage": "outage 2 rtt", "change": "change rtt x2", "queue": "queue lost", "at": "at 3 rtt"}

_CHANGED = ("rtt", "rate", "buffer")
_NUMBER = r"\d{1,9}(?:\.\d{1,9}|/\d{1,9})?"
_FACTOR = re.compile(rf"(\w+)\s+x\s*({_NUMBER})(?:\s*\.\.\s*x?\s*({_NUMBER}))?(?:\s+and)?", re.ASCII)
_TIMES = re.compile(rf"({_NUMBER})(?:\s*\.\.\s*({_NUMBER}))?\s*(\w+)", re.ASCII)


@dataclass(frozen=True)
class Change:
    """The change of a path. All numbers are relative to the path before the change.

    Args:
        factors: The least and the largest factor of each changed quantity, by name: rtt, rate, buffer.
        outage: The longest time without service before the change, in R_m.
        loses: Whether the link loses the bytes that wait at the change.
        at: The earliest and the latest beginning of the change in R_m; None for any instant.
    """

    factors: Mapping[str, tuple[Fraction, Fraction]]
    outage: Fraction
    loses: bool
    at: tuple[Fraction, Fraction] | None

    def parameters(self) -> str:
        """Return the parameters of the model that represents the change."""
        parts = {name: _range(*both) for name, both in self.factors.items()}
        parts |= {"outage": str(self.outage)} if self.outage else {}
        parts |= {"queue": "lost"} if self.loses else {}
        parts |= {"at": _range(*self.at)} if self.at else {}
        return ",".join(f"{name}={text}" for name, text in parts.items())


def read_change(values: Mapping[str, str], rtt: Fraction | None) -> Change | None:
    """Return the Change that the parts of a network describe, by key; None if the network does not change.

    `rtt` is R_m in seconds, if known. A part of a change without a change is an InputError.
    """
    if not values.keys() & {"outage", "change"}:
        for key in ("queue", "at"):
            if key in values:
                problem = f"'{key} {shown(values[key])}' concerns a change, and the path does not change"
                raise InputError(f"{problem}; expected also such as '{KEYS['outage']}' or '{KEYS['change']}'")
        return None
    outage = Fraction(0)
    if "outage" in values:
        least, outage = _times(values["outage"], "outage", rtt)
        if not outage or least != outage:
            raise InputError(
                f"the outage is '{shown(values['outage'])}'; expected its longest time, above 0, as '2 rtt'"
            )
    if (queue := values.get("queue", "kept")) not in ("kept", "lost"):
        raise InputError(f"the queue is '{shown(queue)}'; expected 'queue kept' or 'queue lost'")
    factors = _factors(values.get("change", ""))
    if "buffer" in factors and values.get("buffer") == "infinite":
        raise InputError("the buffer is infinite, and it changes; expected a finite buffer, such as 'buffer 1 bdp'")
    at = values.get("at", "any")
    instants = None if at == "any" else _times(at, "instant of the change", rtt)
    return Change(factors, outage, queue == "lost", instants)


def _factors(text: str) -> dict[str, tuple[Fraction, Fraction]]:
    """Return the least and the largest factor of each quantity that a text such as `rtt x2 rate x1/2` changes."""
    factors: dict[str, tuple[Fraction, Fraction]] = {}
    rest = text.strip()
    while rest:
        match = _FACTOR.match(rest)
        if not match or match[1] not in _CHANGED:
            problem = f"cannot read '{shown(rest)}' in 'change {shown(text)}'"
            raise InputError(
                f"{problem}; expected such as 'change rtt x2', 'change rate x1/2 buffer x2' or 'rtt x1..2'"
            )
        name, least, most = match[1], exact(match[2]), exact(match[3] or match[2])
        if name in factors:
            raise InputError(f"'change {shown(text)}' says {name} twice; expected it once")
        if not least:
            expected = f"a factor above 0, such as '{name} x1/2'"
            also = f", or an outage, as '{KEYS['outage']}'" if name == "rate" else ""
            raise InputError(f"the {name} changes by the factor 0; expected {expected}{also}")
        if least > most:
            raise InputError(f"the {name} changes by x{least}..{most}; did you mean 'x{most}..{least}'?")
        if name == "rtt" and least < 1:
            problem = f"the rtt changes by x{_range(least, most)}"
            raise InputError(
                f"{problem}; expected a factor from 1 on: a step lasts for the smallest R_m that a sender saw"
            )
        factors[name] = least, most
        rest = rest[match.end() :].strip()
    return factors


def _times(text: str, what: str, rtt: Fraction | None) -> tuple[Fraction, Fraction]:
    """Return the two ends of a time such as `2 rtt`, `80 ms` or `1..3 rtt`, in R_m."""
    match = _TIMES.fullmatch(text)
    unit = match[3] if match else ""
    if not match or not (unit == "rtt" or (unit in quantities.DURATIONS and rtt is not None)):
        known = unit in quantities.DURATIONS
        problem = f"the {what} is '{shown(text)}'{', and the network has no rtt' if known else ''}"
        either = " or 'any'" if what != "outage" else ""
        raise InputError(
            f"{problem}; expected such as '2 rtt'{either}{', or a time in ms beside an rtt' * (rtt is None)}"
        )
    scale = Fraction(1) if unit == "rtt" or rtt is None else quantities.DURATIONS[unit] / rtt
    least, most = exact(match[1]) * scale, exact(match[2] or match[1]) * scale
    if least > most:
        raise InputError(f"the {what} is '{shown(text)}'; did you mean '{match[2]}..{match[1]} {unit}'?")
    return least, most


def _range(least: Fraction, most: Fraction) -> str:
    return str(least) if least == most else f"{least}..{most}"
