"""The candidates of a sketch, each run on counterexamples: what it would have remembered there, and sent by that."""

from dataclasses import replace
from itertools import product

from ccmatic.verification import Outcome, check_trace


def breaks(query, trace, controller):
    """Whether a counterexample is one of this controller as well: with the same first state it would have sent the
    same, step by step, by what it would have remembered itself. trace: of the same query."""
    x = query.observed(trace, state=controller.state)
    for flow in x.flows:
        flow.state = controller.followed(flow)
    if any(formula is not True for flow in x.flows for _, _, formula in controller.laws(flow)):
        return False
    own = replace(trace, controller=controller.source, broken=()).with_columns(**x.remembered())
    return check_trace(query, own).outcome is Outcome.BREAKS


class ReplayGenerator:
    """The candidates of a sketch that remain, one by one."""

    def __init__(self, query):
        self._query, template = query, query.template
        everyone = product(*template.holes())
        self._alive = {forms: query.read_controller(template.source(forms, "A candidate.")) for forms in everyone}

    @property
    def left(self):
        """How many candidates remain."""
        return len(self._alive)

    def propose(self):
        """The next candidate that remains, or None."""
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
    """What one counterexample strikes out, or all candidates where its rates are anybody's."""

    def __init__(self, query, trace):
        self._query, self._trace = query, trace

    def strikes(self, template, candidate):
        """Whether it strikes out a candidate, given by its indices."""
        if self._trace.controller is None:
            return True
        return breaks(self._query, self._trace, self._query.read_controller(template.candidate(candidate)))


def uncovered(template, strikes, solved):
    """The source of a candidate that no strike strikes out and that is none of the solved ones, or None."""
    for candidate in product(*(range(len(hole)) for hole in template.holes())):
        if candidate not in solved and not any(strike.strikes(template, candidate) for strike in strikes):
            return template.candidate(candidate)
    return None
