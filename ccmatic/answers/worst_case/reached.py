"""The states that a controller may reach beyond its declared states.

A repeating execution may begin in such a state.
"""

from contextlib import suppress
from dataclasses import replace

from ccmatic import controllers
from ccmatic.answers.verification import Executions, Part
from ccmatic.base import OutOfTime
from ccmatic.contracts import WayToFail
from ccmatic.logic import every, no, some
from ccmatic.logic.solving import SAT, UNKNOWN, UNSAT
from ccmatic.questions.query import left_out


def begun_later(query, controller, options):
    """Return the controller with all states that it may ever reach as initial states, and possibly further states.

    A declaration limits the controller's state. The declaration holds at each step if no step leads from a declared
    state to an undeclared state. Declarations that do not hold are dropped, one after another, until all remaining
    declarations hold. A declaration whose check timed out is dropped, too.

    Returns:
        The controller without the dropped declarations; None if each declaration holds at each step.
    """
    declared = [each for each in controller.state if each.is_restricted]
    kept = _lasting(query, controller, declared, options) if declared else []
    dropped = {each.name for each in declared} - {each.name for each in kept}
    return controllers.begun_anywhere(controller, dropped) if dropped else None


def _lasting(query, controller, declared, options):
    """Return the largest set of declarations which no step breaks, if all of them hold at first.

    The executions are encoded once, without any declaration. Each question then adds those that are left.
    """
    query = query.on(model=query.model.begun_anywhere())
    query = replace(query, property=replace(query.property, repeats=0, given="", x=0))
    free = controllers.begun_anywhere(controller, {each.name for each in declared})
    try:
        excluded = left_out(query, free, options=options)
    except OutOfTime:
        return []
    if any(each.name == "before the trace" for each in excluded):
        return []  # these executions do not show every behaviour of the controller
    reads = query.units().keys() & {*controller.parameters}
    executions = Executions(Part(query, WayToFail("an execution", lambda x: True), options, reads, free.state), free)
    x, left = executions.part.x, declared
    each = controllers.of_flows(controller, x.flows)
    first = {flow.number: _first_decision(one, flow) for one, flow in zip(each, x.flows, strict=True)}
    while left:
        holds = [(m, flow, t) for m in left for flow in _flows(x, m) for t in range(x.horizon)]
        at_first = [m.first(flow, t) for m, flow, t in holds if t < first[flow.number]]
        answer, trace = UNKNOWN, None
        with suppress(OutOfTime):
            # One step may break a declaration that the next step restores.
            answer, trace = executions.find(every(at_first), some([no(m.first(flow, t)) for m, flow, t in holds]))
        if answer != SAT:
            return left if answer == UNSAT else []
        seen = query.observed(trace, trace.columns.keys() & query.units().keys(), controller.state)
        broken = {m.name for m, flow, t in holds if not m.first(seen.flows[flow.number - 1], t)}
        left = [each for each in left if each.name not in broken]
    return left


def _first_decision(controller, flow):
    """Return the first step at which a flow's controller decides. Until then, its state is as at first."""
    first = controller.first_decision(flow)
    return flow.horizon if first is None else first


def _flows(x, memory):
    return [flow for flow in x.flows if memory.flow in (None, flow.number)]
