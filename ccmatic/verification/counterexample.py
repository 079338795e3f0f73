"""From a solver's answer to a trace for people: small denominators, every belief, checked by replay."""

from math import ceil, floor

from ccmatic.base import OutOfTime
from ccmatic.logic import equal, no
from ccmatic.solving import SAT
from ccmatic.verification import replayer as replay

#: Denominators that read well, in the order in which they are tried, and how many checks may be spent.
DENOMINATORS = (1, 2, 4, 5, 10, 20, 60)
CHECKS = 300


class Unsound(Exception):
    """A solver's answer did not pass replay: a fault of ccmatic, never of its input."""


def for_people(part, controller):
    """The trace that the part found last, made readable and completed, and the Report of its replay."""
    controller = None if part.way.any_rates else controller
    if part.trace is None or part.trace.controller != (controller and controller.source):
        raise ValueError("the part did not find a trace of this controller last")
    trace = replay.complete(part.query, _simplest(part, controller))
    report = replay.replay(trace, allow_code=True)
    if report.outcome is not replay.Outcome.BREAKS:
        name = controller.name if controller else "any controller"
        raise Unsound(f"a counterexample for {name} fails replay: {report}")
    return replay.explained(trace, report), report


def _delays_as_in(query, x, trace):
    for name in query.model.measures:
        for truth, value in getattr(x, name).pairs(trace.columns[name]):
            yield truth if value else no(truth)


def _simplest(part, controller):
    """Among the traces that go this way with the same measured delays, one with small denominators: unknown after
    unknown is pinned to the roundest value near its own that leaves a trace."""
    trace, checker = part.trace, part.checker
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
                found = _try(part, controller, equal(unknown, rounder)) if left > 0 else None
                if found:
                    trace, value = found, rounder
                    break
            if value.denominator <= DENOMINATORS[-1]:
                checker.add(equal(unknown, value))
    except OutOfTime:
        pass  # it is as simple as there was time for
    finally:
        checker.pop()
    return trace


def _try(part, controller, formula):
    """A trace on which the formula holds too, or None."""
    part.checker.push()
    try:
        part.checker.add(formula)
        return part.read(part.checker.value, controller) if part.checker.check() == SAT else None
    finally:
        part.checker.pop()


def _free(x):
    """The unknowns from which the others mostly follow, each with how to read it from a trace."""
    yield x.alpha, lambda trace: trace.constants["MSS"]
    if x.beta is not None and x.beta.coefficients:
        yield x.beta, lambda trace: trace.constants["beta"]
    columns = x.columns()
    if x.windows:
        yield from _free_of_windows(columns, x.horizon)
        return
    for name in (*x.beliefs, "L", "Ld", "A", "r", "K", *x.own):
        yield columns[name][0], lambda trace, name=name: trace.columns.get(name, (0,))[0]
    for t in range(1, x.horizon):
        for name in ("K", "S", *x.own):
            yield columns[name][t], lambda trace, name=name, t=t: trace.columns[name][t]


def _free_of_windows(columns, horizon):
    """The same where senders send by a window: what there is at first, then what is sent, served and wasted."""
    for name, column in columns.items():
        yield column[0], lambda trace, name=name: trace.columns[name][0]
    for t in range(1, horizon):
        for name, column in columns.items():
            if name.rstrip("0123456789") in ("A", "S", "L", "W"):
                yield column[t], lambda trace, name=name, t=t: trace.columns[name][t]


def _rounder(value):
    """Rounder numbers than `value` near it, the roundest first."""
    for denominator in DENOMINATORS:
        if value.denominator <= denominator:
            return
        scaled = value * denominator
        nearest = sorted({floor(scaled), ceil(scaled)}, key=lambda n: abs(n - scaled))
        yield from (type(value)(n, denominator) for n in nearest)
