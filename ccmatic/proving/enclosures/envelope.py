"""The tightest envelope, by cases of the measured delay, that contains all decisions of a controller."""

from collections.abc import Sequence
from fractions import Fraction
from time import monotonic

from ccmatic.base import InputError, OutOfTime
from ccmatic.controllers import Controller, parse
from ccmatic.language import names
from ccmatic.language.neural import Range, extremes
from ccmatic.proving.enclosures.decisions import ONE, UPPER, ZERO, Case, cases, decision, limits

#: The ends of an envelope are multiples of C_L/GRID.
GRID = 64

_ABOUT = '"""The tightest envelope, in multiples of C_L/{grid}, that contains {name}."""'


def enclose(controller: Controller, seconds: float = 60, ordered: bool = False) -> str:
    """Return the text of an envelope that contains all decisions of a controller, for all beliefs and for every C.

    The ends are exact: rounded outward to a multiple of C_L/GRID, and no further.

    Args:
        controller: A controller that is a piecewise-linear network of beliefs.
        seconds: The time limit.
        ordered: Whether the envelope contains only the decisions for beliefs with C_L ≤ C_U.

    Raises:
        InputError: If the controller is no such network.
        OutOfTime: If the time was over.
    """
    if controller.is_envelope:
        raise InputError(f"{controller.name} is an envelope; expected a network", controller.file)
    end = monotonic() + seconds
    found = [*cases(limits(controller))]
    reads_upper = UPPER in names(controller.body) and not ordered
    lines = [_ABOUT.format(grid=GRID, name=controller.name), "", ""]
    lines += [f"def rate(C_L, {'C_U, ' if reads_upper else ''}R_m, qdel_L):"]
    if reads_upper:
        # C_U is at least C_L if both are true. The envelope also contains the decisions for other beliefs.
        anything = [_ends(controller, case, ZERO, end) for case in found]
        widest = Range(min(each.low for each in anything), max(each.high for each in anything))
        lines += ["    if C_U < C_L:", f"        {_returned(widest)}"]
    for case, ends in _merged(found, [_ends(controller, case, ONE, end) for case in found]):
        indent = "    " if not case.test else "        "
        lines += [*([f"    if {case.test}:"] if case.test else []), f"{indent}{_returned(ends)}"]
    return "\n".join([*lines, ""])


def is_tightest(envelope: Controller, controller: Controller, ordered: bool = False, seconds: float = 60) -> bool:
    """Return whether an envelope is the one that `enclose` returns for a controller."""
    return bool(parse(enclose(controller, seconds, ordered), envelope.name).meaning == envelope.meaning)


def _ends(controller: Controller, case: Case, least_upper: Fraction, end: float) -> Range:
    made = decision(controller, case.delay, least_upper)
    near = extremes(made.network, made.box, Fraction(1, GRID), end - monotonic())
    if near is None:
        raise OutOfTime(f"no envelope that contains {controller.name} was found in time")
    return near


def _merged(found: Sequence[Case], ends: Sequence[Range]) -> list[tuple[Case, Range]]:
    """Return the cases with their ends. A case is left out if the next one has the same ends."""
    pairs = [*zip(found, ends, strict=True)]
    return [pair for pair, after in zip(pairs, [*pairs[1:], None], strict=True) if after is None or after[1] != pair[1]]


def _returned(ends: Range) -> str:
    return f"return between({_times(ends.low)}, {_times(ends.high)})"


def _times(number: Fraction) -> str:
    return f"{number} * C_L" if number >= 0 else f"-{-number} * C_L"
