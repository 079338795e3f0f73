"""Sketches of contracts. A contract is a step function from delay to rate, which falls with the delay."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from ccmatic.base import InputError, counted, exact
from ccmatic.contracts.template.sketch import Sketch

#: The text of a contract with a place for its levels.
_TEXT = """
level: bytes = between(MSS, top * MSS)


def update(acked, sent, lost, MSS, R_m, step):
{levels}


def send(level, R_m):
    return level / R_m
"""

_Numbers = Iterable[Fraction | int | str]


def contract_sketch(
    levels: int, top: _Numbers, factor: _Numbers, band: _Numbers, links: Sequence[Fraction | int | str], flows: int = 2
) -> Sketch:
    """Return the Sketch of contracts whose rate falls by a factor with each band of delay.

    The delay is the age, beyond R_m, of the oldest byte that is not acknowledged. The holes are `top`, `factor` and
    `band`.

    Args:
        levels: The number of levels.
        top: The possible highest levels, in packets per R_m.
        factor: The possible factors between a level and the next lower one.
        band: The possible lengths of a band, in steps.
        links: The least and the largest rate of the links, in packets per R_m, on which flows use the contracts.
        flows: The number of flows that share a link.

    Raises:
        InputError: For one of three reasons: a factor does not make the levels fall; a band is not a whole number of
            steps; or the links are slower than every lowest level, or faster than every highest level.
    """
    tops, factors, bands = ([exact(number) for number in numbers] for numbers in (top, factor, band))
    if levels < 2:
        raise InputError(f"the contract has {levels} levels, which do not fall; expected at least 2")
    for number in factors:
        if not 0 < number < 1:
            problem = f"the levels of a contract do not fall by the factor {number}"
            raise InputError(f"{problem}; expected a number between 0 and 1")
    for number in bands:
        if number < 1 or number.denominator != 1:
            raise InputError(f"a band of a contract has {number} steps; expected a whole number, at least 1")
    _require_reached(links, flows * min(tops) * min(factors) ** (levels - 1), flows * max(tops))
    numbers = {"top": tops, "factor": factors, "band": bands}
    return Sketch(_TEXT.format(levels="\n".join(_lines(levels))), numbers)


def _require_reached(links: Sequence[Fraction | int | str], least: Fraction, most: Fraction) -> None:
    low, high = map(exact, links)
    if low > high:
        raise InputError(f"the links have {low} to {high} packets per R_m; expected the lower rate first")
    if high > most:
        problem = f"no level reaches a link of {counted(high, 'packet')} per R_m, because the flows send at most {most}"
        raise InputError(f"{problem}; expected slower links, or a higher level")
    if low < least:
        link = f"a link of {counted(low, 'packet')} per R_m"
        problem = f"no level is low enough for {link}, because the flows send at least {least}"
        raise InputError(f"{problem}; expected faster links, more levels, or a smaller factor")


def _lines(levels: int) -> Iterable[str]:
    for number in range(levels - 1):
        age = f"({number + 1} * band - 1)" if number else "(band - 1)"
        yield f"    {'elif' if number else 'if'} acked + lost >= sent[R_m + {age} * step]:"
        yield f"        level = {_level(number)}"
    yield "    else:"
    yield f"        level = {_level(levels - 1)}"


def _level(number: int) -> str:
    return f"top * {'factor * ' * number}MSS"
