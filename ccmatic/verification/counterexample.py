"""From a solver's answer to a trace for people: small denominators, every belief, checked by replay."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any, TypeAlias

from ccmatic.base import OutOfTime
from ccmatic.contracts import Execution
from ccmatic.logic import Linear, Truth, equal, no
from ccmatic.query import Decides, Query
from ccmatic.solving import SAT
from ccmatic.traces import Trace
from ccmatic.verification import replayer as replay
from ccmatic.verification.verifier import Part

#: Denominators that read well, in the order in which they are tried, and how many checks may be spent.
DENOMINATORS = (1, 2, 4, 5, 10, 20, 60)
CHECKS = 300

#: An unknown, and how to read it from a trace.
Free: TypeAlias = tuple[Any, Callable[[Trace], Fraction]]


class Unsound(Exception):
    """A solver's answer did not pass replay: a fault of ccmatic, never of its input."""


def for_people(part: Part, controller: Decides | None) -> tuple[Trace, replay.Report]:
    """The trace that the part found last, made readable and completed, and the Report of its replay."""
    controller = None if part.way.any_rates else controller
    if part.trace is None or part.trace.controller != (controller and controller.source):
        raise ValueError("the part did not find a trace of this controller last")
    trace = replay.complete(part.query, _simplest(part, part.trace, controller))
    report = replay.replay(trace, allow_code=True)
    if report.outcome is not replay.Outcome.BREAKS:
        name = controller.name if controller else "any controller"
        raise Unsound(f"a counterexample for {name} fails replay: {report}")
    name = controller.name if controller else None
    return replay.explained(replace(trace, controller_name=name), report), report


def _delays_as_in(query: Query, x: Execution, trace: Trace) -> Iterator[Truth]:
    for name in query.model.measures:
        for truth, value in getattr(x, name).pairs(trace.columns[name]):
            yield truth if value else no(truth)


def _simplest(part: Part, trace: Trace, controller: Decides | None) -> Trace:
    """Among the traces that go this way with the same measured delays, one with small denominators: unknown after
    unknown is pinned to the roundest value near its own that leaves a trace."""
    checker = part.checker
    checker.push()
    try:
        part.enter(controller)
        for formula in _delays_as_in(part.query, part.x, trace):
            checker.add(formula)
        left = CHECKS
        for unknown, read in _free(part.x):
            value = read(trace)
            for rounder in _rounder(value):
                left -= 1
                simpler = _try(part, controller, equal(unknown, rounder)) if left > 0 else None
                if simpler:
                    trace, value = simpler, rounder
                    break
            if value.denominator <= DENOMINATORS[-1]:
                checker.add(equal(unknown, value))
    except OutOfTime:
        pass  # it is as simple as there was time for
    finally:
        checker.pop()
    return trace


def _try(part: Part, controller: Decides | None, formula: Truth) -> Trace | None:
    """A trace on which the formula holds too, or None."""
    part.checker.push()
    try:
        part.checker.add(formula)
        return part.read_trace(part.checker.value, controller) if part.checker.check() == SAT else None
    finally:
        part.checker.pop()


def _free(x: Execution) -> Iterator[Free]:
    """The unknowns from which the others mostly follow, each with how to read it from a trace."""
    yield x.alpha, lambda trace: trace.constants["MSS"]
    if isinstance(x.beta, Linear) and x.beta.coefficients:
        yield x.beta, lambda trace: trace.constants["beta"]
    columns = x.columns()
    if x.windows:
        yield from _free_of_windows(columns, x.horizon)
        return
    for name in (*x.beliefs, "L", "Ld", "A", "r", "K", *x.own):
        yield columns[name][0], _stated(name, 0)
    for t in range(1, x.horizon):
        for name in ("K", "S", *x.own):
            yield columns[name][t], _stated(name, t)


def _free_of_windows(columns: Mapping[str, Sequence[Any]], horizon: int) -> Iterator[Free]:
    """The same where senders send by a window: what there is at first, then what is sent, served and wasted."""
    for name, column in columns.items():
        yield column[0], _stated(name, 0)
    for t in range(1, horizon):
        for name, column in columns.items():
            if name.rstrip("0123456789") in ("A", "S", "L", "W"):
                yield column[t], _stated(name, t)


def _stated(name: str, t: int) -> Callable[[Trace], Fraction]:
    """How to read a column at a step; 0 where the trace lacks the column."""
    return lambda trace: trace.columns[name][t] if name in trace.columns else Fraction(0)


def _rounder(value: Fraction) -> Iterator[Fraction]:
    """Rounder numbers than `value` near it, the roundest first."""
    for denominator in DENOMINATORS:
        if value.denominator <= denominator:
            return
        scaled = value * denominator
        nearest = sorted({floor(scaled), ceil(scaled)}, key=lambda n: abs(n - scaled))
        yield from (Fraction(n, denominator) for n in nearest)
