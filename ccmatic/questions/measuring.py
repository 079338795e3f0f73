"""Judge runs and traces by expectations.

Both runs and traces are executions whose values are numbers instead of unknowns.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import inf
from typing import Any, Literal, TypeAlias

from ccmatic.base import InputError, counted, definitions
from ccmatic.contracts import Model, NetworkView, load_definition
from ccmatic.logic import isolated
from ccmatic.networks.traces import Trace
from ccmatic.questions.between_steps import counts_longer
from ccmatic.questions.networks import units
from ccmatic.questions.query import from_record
from ccmatic.records import ExpectationRecord

#: A unit of time, `s` or `R_m`, and a function from a step to the time.
Clock: TypeAlias = tuple[Literal["s", "R_m"], Callable[[int], Fraction]]


def read(text: str, given: Mapping[str, Any] | None = None) -> Any:
    """Parse an expectation.

    Args:
        text: The text of the expectation.
        given: The units, as `networks.units` returns them. The default is the set of units that suit every network.

    Raises:
        InputError: If the text is no valid expectation.
    """
    kind = _kind()
    return kind.parse(text, given or kind.units)


def judge(model: Model, x: NetworkView, text: str, expectation: Any, clock: Clock | None = None) -> ExpectationRecord:
    """Judge an execution by an expectation.

    Args:
        model: The network's Model.
        x: The execution. Its values are numbers.
        text: The expectation as the user wrote it.
        expectation: The parsed expectation, as `read` returns it.
        clock: The Clock of all times. By default, times are in R_m and count from the first step.

    Returns:
        The ExpectationRecord.

    Raises:
        InputError: If the execution does not show the quantity of the expectation, or is too short.
    """
    worst, says = _kind().worst(model, x, expectation, clock)
    name, time = clock or ("R_m", lambda t: Fraction(t, x.R))
    met = worst is not None and expectation.met(worst.value)
    unit, factor = expectation.written
    shown = worst is not None and worst.value != inf
    return ExpectationRecord(
        expect=" ".join(text.split()),
        verdict="not applicable" if worst is None else "met" if met else "not met",
        value=worst.value / factor if shown else None,
        unit=unit,
        at_least=worst is not None and worst.at_least,
        flow=None if worst is None or worst.flow is None else worst.flow + 1,
        begin=None if worst is None else float(time(worst.begin)),
        end=None if worst is None else float(time(worst.end)),
        clock=name,
        measured=says,
    )


@isolated
def measure(trace: Trace, text: str, allow_code: bool = False) -> ExpectationRecord:
    """Judge a trace by an expectation, in the units of the trace's path if it states one.

    The function does not check whether the trace obeys the laws.

    Args:
        trace: The trace.
        text: The expectation as text.
        allow_code: Whether the trace may name files whose code is run, as in `from_record`.

    Raises:
        InputError: If the expectation is invalid, or the trace does not show the quantity of the expectation.
    """
    query = from_record(trace.query, allow_code)
    controller = None if trace.controller is None else query.read_controller(trace.controller)
    reads = trace.columns.keys() & query.units().keys()
    x = query.observed(trace, reads, controller.state if controller else ())
    if trace.path is None:
        return judge(query.model, x, text, read(text))
    steps = trace.path.rtt / trace.path.step
    if steps != x.R if query.model.windows else steps > 1:
        expected = f"{counted(x.R, 'step')} per R_m" if query.model.windows else "at most one step per R_m"
        raise InputError(f"the path of the trace has {float(steps):.6g} steps per R_m; expected {expected}")
    scale = Fraction(1) if query.model.windows else steps
    expectation = read(text, units(trace.path.rate, trace.path.rtt, scale))
    counts_longer(expectation, _kind(), trace.path.rtt, steps)
    return judge(query.model, x, text, expectation, ("R_m", lambda t: t / steps))


def _kind() -> Any:
    return load_definition("properties", "PROPERTY", definitions.chosen("properties", "EXPECTS"))
