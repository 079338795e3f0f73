"""Property: one lemma of a proof holds for given values of the proof's constants.

Because a lemma is a property, it uses the same queries, traces and replay as all other properties.
"""

from dataclasses import dataclass, field, replace

from ccmatic.base import InputError, exact, shown, suggest
from ccmatic.contracts import Implied, Property, RecordingDict, Stated, WayToFail, load_definition
from ccmatic.logic import every, no


@dataclass(frozen=True)
class LemmaHolds(Property):
    """One lemma of a proof holds for given values of the proof's constants.

    Attributes:
        proof: The name or path of the proof.
        lemma: The name of the lemma.
        constants: The values of the constants, such as `low=27/40, high=3`.
        definition: The Proof.
    """

    name = "lemma"
    deployed = True
    pauses = True

    proof: str
    lemma: str
    constants: str = ""
    definition: object = field(default=None, compare=False, repr=False)

    @classmethod
    def from_parameters(cls, given, allow_code=False):
        """Return the property that a record describes."""
        texts = all(isinstance(value, str) for value in given.values())
        if not texts or not {"proof", "lemma"} <= given.keys() <= {"proof", "lemma", "constants"}:
            raise InputError(f"{given!s:.80} names no lemma; expected proof, lemma and constants")
        return cls(**given, definition=load_definition("proofs", "PROOF", given["proof"], allow_code))

    def parameters(self):
        """Return the property's parameters for a record."""
        return {"proof": self.proof, "lemma": self.lemma, "constants": self.constants}

    def of(self, lemma, constants):
        """Return this property for another lemma of the proof, with the given constants."""
        return replace(self, lemma=lemma, constants=", ".join(f"{name}={value}" for name, value in constants.items()))

    def ways_to_fail(self, model, buffer):
        """Yield the only way to fail: a window that breaks the lemma."""
        reads = tuple(self.judges(model))
        yield WayToFail(self.lemma, lambda x: no(self._reason(model, x).condition), reads=reads)

    def judges(self, model):
        """Return the beliefs that the proof reads."""
        return set(self.definition.beliefs)

    def objectives(self, model, x):
        """Return the lemma as a condition."""
        return {name: reason.condition for name, reason in self.reasons(model, x).items()}

    def reasons(self, model, x):
        """Return the lemma with its explanation: the premise, and the conclusion in words."""
        return {self.lemma: self._reason(model, x)}

    def holds(self, objectives):
        """Return whether the lemma holds."""
        return all(objectives.values())

    def _reason(self, model, x):
        lemmas = {lemma.name: lemma for lemma in self.definition.about(x.flows[0].kept).all_lemmas(model)}
        if self.lemma not in lemmas:
            raise InputError(f"{self.proof} has no lemma '{self.lemma}'; {suggest(self.lemma, lemmas)}")
        lemma, constants = lemmas[self.lemma], RecordingDict(self._values())
        given, then = every(lemma.given(x, constants)), lemma.then(x, constants)
        where = f", where {self.constants}" if self.constants else ""
        premise = Stated("the premise holds for this window", given)
        return Implied(premise, Stated(f"{_filled(lemma.says or self.lemma, constants)}{where}", then))

    def _values(self):
        pairs = [pair.split("=") for pair in self.constants.split(", ") if pair]
        try:
            values = {name: exact(value) for name, value in pairs}
        except (InputError, ValueError):
            values = {}
        if len(values) < len(pairs):
            raise InputError(f"the constants are '{shown(self.constants)}'; expected such as 'low=27/40', each once")
        return values


def _filled(says, constants):
    """Return the words of a lemma with the constants replaced by their values."""
    for name, value in constants.items():
        says = says.replace("{" + name + "}", str(value))
    return says


PROPERTY = LemmaHolds
