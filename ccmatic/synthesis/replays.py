"""The generator for sketches, whose candidates have state. It runs each candidate on each counterexample."""

from dataclasses import replace
from itertools import product

from ccmatic.verification import Outcome, check_trace


def breaks(query, trace, controller):
    """Return whether a counterexample of another controller is also a counterexample of this controller.

    To decide this, start the controller in the trace's first state, and let it update its own state at each step. The
    trace is a counterexample if the controller sends the same bytes. The trace must belong to the query.
    """
    x = query.observed(trace, state=controller.state)
    for flow in x.flows:
        state = controller.followed(flow)
        if state is None:
            return False
        flow.state = state
    if any(formula is not True for flow in x.flows for _, _, formula in controller.laws(flow)):
        return False
    own = replace(trace, controller=controller.source, broken=()).with_columns(**x.remembered())
    return check_trace(query, own).outcome is Outcome.BREAKS


class ReplayGenerator:
    """A generator that keeps the remaining candidates of a sketch as a list."""

    def __init__(self, query):
        self._query, template = query, query.template
        everyone = product(*template.holes())
        self._alive = {forms: query.read_controller(template.source(forms, "A candidate.")) for forms in everyone}

    @property
    def left(self):
        """The number of candidates that remain."""
        return len(self._alive)

    def propose(self):
        """Return the next candidate that remains, or None."""
        return next(iter(self._alive), None)

    def strike_like(self, trace):
        """Strike out every candidate that the trace breaks."""
        for forms in [forms for forms, each in self._alive.items() if breaks(self._query, trace, each)]:
            del self._alive[forms]

    def strike(self, candidate):
        """Strike out this candidate."""
        self._alive.pop(candidate, None)

    strike_class = strike

    def strike_all(self):
        """Strike out every candidate."""
        self._alive.clear()


class Replay:
    """The set of candidates that a counterexample strikes out.

    If it breaks the property for all rates, these are all candidates.
    """

    def __init__(self, query, trace):
        self._query, self._trace = query, trace

    def strikes(self, template, candidate):
        """Return whether the counterexample strikes out the candidate with these indices."""
        if self._trace.controller is None:
            return True
        return breaks(self._query, self._trace, self._query.read_controller(template.candidate(candidate)))


def uncovered(template, strikes, decided):
    """Return the source of a candidate that is neither struck out nor in the set `decided`, or None."""
    for candidate in product(*(range(len(hole)) for hole in template.holes())):
        if candidate not in decided and not any(strike.strikes(template, candidate) for strike in strikes):
            return template.candidate(candidate)
    return None
