"""Conditions that the claim of a proof needs in addition to its lemmas, so that progress adds up over all time.

- The states are ordered.
- Each step of progress has a positive size.
- Limits and units do not change over time.
- States and measures at the end of a window equal the states and measures at the start of the next window.
"""

from ccmatic.contracts import following
from ccmatic.logic import formula, linear
from ccmatic.questions.query import knows_more


def faults(proof, model, x, c):
    """Yield a sentence for each reason why the progress of windows might not add up even if all lemmas hold."""
    order = [state.name for state in proof.states]
    after, end = following(model, x, proof.common), proof.end(x)
    for state in proof.states:
        for name in state.leads_to:
            if order.index(proof.state(name).name) <= order.index(state.name):
                yield f"'{state.name}' leads back to '{name}': progress need not add up"
        if _differ(state.holds(x, end, c), state.holds(after, 0, c)):
            yield f"'{state.name}' is not the same at a window's end and at the next one's start: it reads other steps"
        for measure in state.measures:
            about = f"{measure.name} in '{state.name}'"
            if measure.stalls(c):
                yield f"{about} can stall: {measure.by} is {c[measure.by]}"
            if _terms_differ(measure.value(x, end), measure.value(after, 0)):
                yield f"{about} is not the same at a window's end and at the next one's start: it reads other steps"
            yield from (f"{about} has a {what}" for what in _moving(measure, x))


def faults_of(controller, x, common):
    """Yield a sentence for each reason why a controller's actual windows may differ from the windows in the lemmas.

    In the lemmas, the start of a window is arbitrary. In an execution, the preceding window determines the start.
    """
    shared = "only one step" if common == 1 else f"{common} steps"
    for flow in x.flows:
        for name in controller.dated():
            yield f"{controller.name} reads `{name}`, which restarts in each window"
        first = controller.first_decision(flow)
        if controller.state and first not in range(1, common + 1):
            yield f"{controller.name} decides from step {first} of a window on, and windows have {shared} in common"
        elif controller.state and knows_more(controller, flow):
            unknown = "at a delay that it does not know, as at a window's start"
            yield f"{controller.name} may act at a known delay in ways that it may not {unknown}"
        if x.R != 1:
            yield f"R_m is {x.R} steps, for which windows prove nothing; expected one step"


def _moving(measure, x):
    """Yield a message for each limit or unit whose value may change from window to window."""
    for what, term in (("limit", measure.limit), ("unit", measure.unit)):
        moving = _unknowns(term(x)) - _unknowns(x.alpha) - _unknowns(0 if x.beta is None else x.beta) if term else ()
        if moving:
            yield f"{what} that may move: it reads {', '.join(sorted(moving))}; expected only C, D, alpha or beta"


def _unknowns(term):
    nodes = linear(term).coefficients
    return {unknown.symbol_name() for node in nodes for unknown in node.get_free_variables()}


def _terms_differ(one, other):
    one, other = linear(one), linear(other)
    return (one.coefficients, one.constant) != (other.coefficients, other.constant)


def _differ(one, other):
    """Return whether two conditions differ as terms. In pySMT, equal conditions are the same node."""
    return formula(one) is not formula(other)
