"""Readable counterexamples: the solver's trace with small denominators and all beliefs, checked by replay."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any, TypeAlias

from ccmatic.answers.verification import replayer as replay
from ccmatic.answers.verification.verifier import Part
from ccmatic.base import OutOfTime
from ccmatic.contracts import Execution
from ccmatic.logic import Linear, Truth, equal, no, some
from ccmatic.logic.solving import SAT
from ccmatic.networks.traces import Trace
from ccmatic.questions.query import Decides, Query

#: The denominators for readable values, in the order of trial, and the largest number of solver checks per trace.
DENOMINATORS = (1, 2, 4, 5, 10, 20, 60)
CHECKS = 300

#: A pair of an unknown, and a function that reads its value from a trace.
Free: TypeAlias = tuple[Any, Callable[[Trace], Fraction]]


class Unsound(Exception):
    """The error that a solver's trace failed its replay. This is a fault of ccmatic, never of its input."""


def for_people(part: Part, controller: Decides | None) -> tuple[Trace, replay.Report]:
    """Return the last trace of a Part, simplified and completed, together with the Report of its replay.

    It has to be a trace of this controller. Raise Unsound if it fails its replay.
    """
    controller = None if part.way.any_rates else controller
    if part.trace is None or part.trace.controller != (controller and controller.source):
        raise ValueError("the part's last trace is not one of this controller")
    trace = replay.complete(part.query, _simplest(part, part.trace, controller))
    name = controller.name if controller else None
    report = report_on(trace, name or "any controller")
    return replay.explained(replace(trace, controller_name=name), report), report


def report_on(trace: Trace, name: str) -> replay.Report:
    """Replay a counterexample for the controller called `name`. Raise Unsound if it is none."""
    report = replay.replay(trace, allow_code=True)
    if report.outcome is not replay.Outcome.BREAKS:
        raise Unsound(f"a counterexample for {name} fails replay: {report}")
    return report


def _delays_as_in(query: Query, x: Execution, trace: Trace) -> Iterator[Truth]:
    for name in query.model.measures:
        for truth, value in getattr(x, name).pairs(trace.columns[name]):
            yield truth if value else no(truth)


def _simplest(part: Part, trace: Trace, controller: Decides | None) -> Trace:
    """Return a trace of the same failure, with the same measured delays and smaller denominators.

    The search fixes one unknown after another to the roundest value near its own for which a trace still exists.
    """
    checker = part.checker
    checker.push()
    try:
        part.enter(controller)
        for formula in _delays_as_in(part.query, part.x, trace):
            checker.add(formula)
        left = CHECKS
        for unknown, read in _free(part.x):
            value = read(trace)
            for rounder in _possible(part, unknown, [*_rounder(value)]):
                left -= 1
                simpler = _try(part, controller, equal(unknown, rounder)) if left > 0 else None
                if simpler:
                    trace, value = simpler, rounder
                    break
            # A value that is not round stays free, because a later choice of another value may make it round.
            if value.denominator <= DENOMINATORS[-1]:
                checker.add(equal(unknown, value))
    except OutOfTime:
        pass  # If the number of checks is exhausted, the simplest trace so far is good enough.
    finally:
        checker.pop()
    return trace


def _possible(part: Part, unknown: Any, numbers: Sequence[Fraction]) -> Iterator[Fraction]:
    """Yield the first number, and then the others if the unknown can have one of them.

    If the first number is impossible, mostly all of them are. So one check replaces a check for each of them.
    """
    yield from numbers[:1]
    if numbers[1:] and _is_possible(part, some([equal(unknown, number) for number in numbers[1:]])):
        yield from numbers[1:]


def _is_possible(part: Part, formula: Truth) -> bool:
    part.checker.push()
    try:
        part.checker.add(formula)
        return part.checker.check() == SAT
    finally:
        part.checker.pop()


def _try(part: Part, controller: Decides | None, formula: Truth) -> Trace | None:
    """Return a trace that also satisfies the formula, or None."""
    part.checker.push()
    try:
        part.checker.add(formula)
        return part.read_trace(part.checker.value, controller) if part.checker.check() == SAT else None
    finally:
        part.checker.pop()


def _free(x: Execution) -> Iterator[Free]:
    """Yield the unknowns that determine most other unknowns, each with a function that reads its value from a trace."""
    yield x.alpha, lambda trace: trace.constants["MSS"]
    if isinstance(x.beta, Linear) and x.beta.coefficients:
        yield x.beta, lambda trace: trace.constants["beta"]
    columns = x.columns()
    if x.windows:
        yield from _free_of_windows(columns, x.horizon)
        return
    for name in (*x.beliefs, "L", "Ld", "A", "r", "K", *x.own):
        yield columns[name][0], _reader(name, 0)
    for t in range(1, x.horizon):
        for name in ("K", "S", *x.own):
            yield columns[name][t], _reader(name, t)


def _free_of_windows(columns: Mapping[str, Sequence[Any]], horizon: int) -> Iterator[Free]:
    """Yield the unknowns of `_free` for window senders: initial values, then bytes sent, served, lost and wasted."""
    for name, column in columns.items():
        yield column[0], _reader(name, 0)
    for t in range(1, horizon):
        for name, column in columns.items():
            if name.rstrip("0123456789") in ("A", "S", "L", "W"):
                yield column[t], _reader(name, t)


def _reader(name: str, t: int) -> Callable[[Trace], Fraction]:
    return lambda trace: trace.columns[name][t] if name in trace.columns else Fraction(0)


def _rounder(value: Fraction) -> Iterator[Fraction]:
    """Yield rounder numbers near `value`, the roundest first."""
    for denominator in DENOMINATORS:
        if value.denominator <= denominator:
            return
        scaled = value * denominator
        nearest = sorted({floor(scaled), ceil(scaled)}, key=lambda n: abs(n - scaled))
        yield from (Fraction(n, denominator) for n in nearest)
