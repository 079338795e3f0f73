"""The generator for sketches, whose candidates have state. It runs each candidate on each counterexample."""

from dataclasses import replace
from itertools import product

from ccmatic.answers.verification import Outcome, check_trace


def breaks(query, trace, controller):
    """Return whether a counterexample of another controller is also a counterexample of this controller.

    To decide this, start the controller in the trace's first state, and let it update its own state at each step. The
    trace is a counterexample if the controller sends the same bytes, possibly in packets of another size. The trace
    must belong to the query.
    """
    own = _sent_by(query, trace, controller)
    return own is not None and check_trace(query, own).outcome is Outcome.BREAKS


def _sent_by(query, trace, controller):
    """Return the trace with the state of a controller that sends its bytes, or None.

    If the controller sends other bytes, its packets may have another size. The first difference tells this size, if
    the window and the rate are multiples of it.
    """
    for _ in range(2):
        x = query.observed(trace, state=controller.state)
        part = 1
        for flow in x.flows:
            flow.state, part = controller.followed(flow)
            if part != 1:
                break
        if part == 1:
            laws = (formula for flow in x.flows for _, _, formula in controller.laws(flow))
            if any(formula is not True for formula in laws):
                return None
            return replace(trace, controller=controller.source, broken=()).with_columns(**x.remembered())
        trace = replace(trace, constants={**trace.constants, "MSS": trace.constants["MSS"] * part})
        if part <= 0:
            return None
    return None


class ReplayGenerator:
    """A generator that keeps the remaining candidates of a sketch as a list.

    It replays the counterexamples on a candidate only when the candidate's turn comes, the latest counterexample first.
    """

    def __init__(self, query):
        self._query, self._strikes = query, []
        #: The remaining candidates, each with the number of counterexamples whose replay has not broken it.
        self._left = dict.fromkeys(product(*query.template.holes()), 0)

    @property
    def left(self):
        """The number of candidates that remain. Counterexamples may break further candidates, whose turn will come."""
        return len(self._left)

    def propose(self):
        for forms, passed in list(self._left.items()):
            if not self._is_struck(forms, self._strikes[passed:]):
                self._left[forms] = len(self._strikes)
                return forms
            del self._left[forms]
        return None

    def _is_struck(self, forms, strikes):
        if not strikes:
            return False
        controller = self._query.read_controller(self._query.template.source(forms, "A candidate."))
        return any(strike.breaks(controller) for strike in reversed(strikes))

    def strike_like(self, trace):
        """Strike out every candidate that the trace breaks."""
        self._strikes.append(Replay(self._query, trace))
        self.propose()

    def strike(self, candidate):
        self._left.pop(candidate, None)

    strike_class = strike

    def strike_all(self):
        self._left.clear()


class Replay:
    """The set of candidates that a counterexample strikes out.

    If it breaks the property for all rates, these are all candidates.
    """

    def __init__(self, query, trace):
        self._query, self._trace = query, trace

    def breaks(self, controller):
        return self._trace.controller is None or breaks(self._query, self._trace, controller)

    def strikes(self, template, candidate):
        return self.breaks(self._query.read_controller(template.candidate(candidate)))


def uncovered(template, strikes, decided):
    """Return the source of a candidate that is neither struck out nor in the set `decided`, or None."""
    for candidate in product(*(range(len(hole)) for hole in template.holes())):
        if candidate not in decided and not any(strike.strikes(template, candidate) for strike in strikes):
            return template.candidate(candidate)
    return None
