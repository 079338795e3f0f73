"""The variables that a controller keeps from step to step: their declared initial values, in words and as formulas."""

from ccmatic.base import CONDITION
from ccmatic.language import Declaration, value
from ccmatic.logic import equal, every, some
from ccmatic.worlds.formula import Encoder
from ccmatic.worlds.text import text


class Memory(Declaration):
    """A declared part of a controller's state."""

    @property
    def says(self):
        """The possible initial values, as words that follow the name of the state."""
        if self.unit == CONDITION and self.terms:
            return f"= {value(self.terms[0])}"
        terms = [text(term) for term in self.terms]
        match self.kind:
            case "above":
                return f"above {terms[0]}"
            case "between":
                return f"between {terms[0]} and {terms[1]}"
            case "any_of":
                return f"one of {', '.join(terms)}"
            case "equal":
                return f"= {terms[0]}"
        return "any"

    def first(self, view, t):
        """Return the condition that the state at step t of a view has a possible initial value.

        If the state holds a belief, the initial value must also be true of the path.
        """
        declared = self._as_declared(view, t)
        if self.belief and self.belief.holds:
            return every(declared, self.belief.holds(view, t, view.state[self.name][t]))
        return declared

    def _as_declared(self, view, t):
        now = view.state[self.name][t]
        if self.unit == CONDITION and self.terms:
            return equal(now, int(value(self.terms[0])))
        observations = self.observations.items()
        constants = {name: observation.read(view, t) for name, observation in observations if observation.constant}
        encoder = Encoder({"R_m": view.R, "D": view.D, "MSS": view.alpha, **constants}, None)
        terms = [encoder.form(tree) for tree in self.terms]
        match self.kind:
            case "equal" | "any_of":
                return some([equal(now, term) for term in terms])
            case "above":
                return now > terms[0]
            case "between":
                return every(now >= terms[0], now <= terms[1])
        return True
