"""What no lemma says and the claim rests on: the progress of each window adds up over all of time.

States have an order; steps of progress are above nothing; limits and units stay what they are; and what a state or a
measure is at the end of a window, it is at the start of the next.
"""

from ccmatic.contracts import following
from ccmatic.logic import formula, linear
from ccmatic.query import knows_more


def faults(proof, model, x, c):
    """Yield, a sentence each, why the lemmas of a Proof would not add up, though each is true of windows like `x`.

    model: the network's Model. x: the unknowns of a window, an Execution. c: constants by name.
    """
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
    """Yield likewise why windows of what a controller does need not be so, though each lemma is true of those asked
    about: what they take to be open at first is, of a window that another one precedes, what that one left. common:
    steps that a window and the next one have in common."""
    shared = "but one step" if common == 1 else f"{common} steps"
    for flow in x.flows:
        for name in controller.dated():
            yield f"{controller.name} reads `{name}`, which begins anew in each window"
        first = controller.first_decision(flow)
        if controller.state and first not in range(1, common + 1):
            yield f"{controller.name} decides from step {first} of a window on, and windows have {shared} in common"
        elif controller.state and knows_more(controller, flow):
            untold = "of a delay that it does not know, as at a window's beginning, what it may do of one that it does"
            yield f"{controller.name} need not do, {untold}"
        if x.R != 1:
            yield f"R_m is {x.R} steps, of which no window is proved; expected one step"


def _moving(measure, x):
    """Which of limit and unit reads what may differ from window to window, and what that is."""
    for what, term in (("limit", measure.limit), ("unit", measure.unit)):
        moving = _unknowns(term(x)) - _unknowns(x.alpha) - _unknowns(0 if x.beta is None else x.beta) if term else ()
        if moving:
            yield f"{what} that may move: it reads {', '.join(sorted(moving))}; expected C, D, alpha or beta alone"


def _unknowns(term):
    nodes = linear(term).coefficients
    return {unknown.symbol_name() for node in nodes for unknown in node.get_free_variables()}


def _terms_differ(one, other):
    one, other = linear(one), linear(other)
    return (one.coefficients, one.constant) != (other.coefficients, other.constant)


def _differ(one, other):
    """Of conditions, whether they are not word for word one: equal conditions are one node."""
    return formula(one) is not formula(other)
