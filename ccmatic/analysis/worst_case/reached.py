"""What state a controller comes to beyond what it declares: of what goes on for ever, it may begin with that."""

from dataclasses import replace

from ccmatic import controllers
from ccmatic.contracts import WayToFail
from ccmatic.logic import no, some
from ccmatic.query import left_out
from ccmatic.solving import SAT, UNSAT
from ccmatic.verification import Executions, Part


def begun_later(query, controller, options):
    """The controller whose state may be at first what it is after any number of steps, and what a declaration that
    does not hold then leaves open; None if each declaration of state holds at each step.

    A declaration holds at each step if no step from state as declared leads to other state. One that does not is
    dropped, until the rest hold. One that could not be decided in time is dropped as well.
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
    """Of the declarations of these names those that a step breaks; all of them if that is not known in time."""
    step_query = query.on(model=query.model.begun_anywhere())
    step_query = replace(step_query, property=replace(query.property, repeats=0, given="", x=0))
    if any(each.name == "before the trace" for each in left_out(step_query, controller)):
        return set(names)  # what it does then is not all that it does
    way = WayToFail("an execution", lambda x: True)
    reads = step_query.units().keys() & {*controller.parameters}
    part = Part(step_query, way, options, reads, controller.state)
    kept = [(m, flow) for m in controller.state if m.is_restricted and m.name in names for flow in _flows(part.x, m)]
    steps = range(part.x.horizon)  # one step may break a declaration that the next restores
    broken = [no(m.first(flow, t)) for m, flow in kept for t in steps]
    answer, trace = Executions(part, controller).find(some(broken))
    if answer != SAT:
        return set() if answer == UNSAT else set(names)
    x = step_query.observed(trace, trace.columns.keys() & step_query.units().keys(), controller.state)
    flows = [(m, x.flows[flow.number - 1]) for m, flow in kept]
    return {m.name for m, flow in flows if not all(m.first(flow, t) for t in steps)}


def _flows(x, memory):
    return [flow for flow in x.flows if memory.flow in (None, flow.number)]
