"""The states that a controller may reach beyond its declared states.

A repeating execution may begin in such a state.
"""

from contextlib import suppress
from dataclasses import replace

from ccmatic import controllers
from ccmatic.base import OutOfTime
from ccmatic.contracts import WayToFail
from ccmatic.logic import no, some
from ccmatic.query import left_out
from ccmatic.solving import SAT, UNKNOWN, UNSAT
from ccmatic.verification import Executions, Part


def begun_later(query, controller, options):
    """Return the controller with all states that it may ever reach as initial states, and possibly further states.

    A declaration limits the controller's state. The declaration holds at each step if no step leads from a declared
    state to an undeclared state. Declarations that do not hold are dropped, one after another, until all remaining
    declarations hold. A declaration whose check timed out is dropped, too.

    Returns:
        The controller without the dropped declarations; None if each declaration holds at each step.
    """
    declared = {each.name for each in controller.state if each.is_restricted}
    left = declared
    while left:
        begun = controllers.begun_anywhere(controller, declared - left)
        lost = _lost(query, begun, left, options)
        if not lost:
            break
        left = left - lost
    return controllers.begun_anywhere(controller, declared - left) if left != declared else None


def _lost(query, controller, names, options):
    """Return the names of the declarations that a step breaks; all names if the solver timed out."""
    step_query = query.on(model=query.model.begun_anywhere())
    step_query = replace(step_query, property=replace(query.property, repeats=0, given="", x=0))
    if any(each.name == "before the trace" for each in left_out(step_query, controller)):
        return set(names)  # these executions do not show every behaviour of the controller
    way = WayToFail("an execution", lambda x: True)
    reads = step_query.units().keys() & {*controller.parameters}
    part = Part(step_query, way, options, reads, controller.state)
    kept = [(m, flow) for m in controller.state if m.is_restricted and m.name in names for flow in _flows(part.x, m)]
    steps = range(part.x.horizon)  # one step may break a declaration that the next step restores
    broken = [no(m.first(flow, t)) for m, flow in kept for t in steps]
    answer, trace = UNKNOWN, None
    with suppress(OutOfTime):
        answer, trace = Executions(part, controller).find(some(broken))
    if answer != SAT:
        return set() if answer == UNSAT else set(names)
    x = step_query.observed(trace, trace.columns.keys() & step_query.units().keys(), controller.state)
    flows = [(m, x.flows[flow.number - 1]) for m, flow in kept]
    return {m.name for m, flow in flows if not all(m.first(flow, t) for t in steps)}


def _flows(x, memory):
    return [flow for flow in x.flows if memory.flow in (None, flow.number)]
