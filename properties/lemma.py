"""One lemma of a proof, with values for its constants: so that its question, its traces and their replay are as any
other property's."""

from dataclasses import dataclass
from fractions import Fraction

from ccmatic import definitions
from ccmatic.errors import InputError, suggest
from ccmatic.formula import every, implies, no
from ccmatic.lemma import Reads
from ccmatic.property import Property, WayToFail


@dataclass(frozen=True)
class LemmaHolds(Property):
    """proof: its name or path. lemma: its name. constants: such as `low=27/40, high=3`."""

    name = "lemma"
    deployed = True

    proof: str
    lemma: str
    constants: str = ""

    @classmethod
    def from_parameters(cls, given):
        """As recorded."""
        try:
            return cls(**given)
        except TypeError:
            raise InputError(f"{given} names no lemma; expected proof, lemma and constants") from None

    @classmethod
    def of(cls, proof, lemma, constants):
        """The property for these values."""
        return cls(proof, lemma, ", ".join(f"{name}={value}" for name, value in constants.items()))

    def ways_to_fail(self, model, buffer):
        """One: a window of which the lemma is not true."""
        reads = tuple(self.judges(model))
        yield WayToFail(self.lemma, lambda x: no(self._holds(model, x)), reads=reads)

    def judges(self, model):
        """Those that the proof reads."""
        return set(self._proof().beliefs)

    def objectives(self, model, x):
        """The lemma alone."""
        return {self.lemma: self._holds(model, x)}

    def holds(self, objectives):
        """Whether it is true."""
        return all(objectives.values())

    def _proof(self):
        return definitions.load("proofs", "PROOF", self.proof)

    def _holds(self, model, x):
        lemmas = {lemma.name: lemma for lemma in self._proof().all_lemmas(model)}
        if self.lemma not in lemmas:
            raise InputError(f"{self.proof} has no lemma '{self.lemma}'; {suggest(self.lemma, lemmas)}")
        lemma, constants = lemmas[self.lemma], Reads(self._values())
        return implies(every(lemma.given(x, constants)), lemma.then(x, constants))

    def _values(self):
        pairs = (pair.split("=") for pair in self.constants.split(", ") if pair)
        try:
            return {name: Fraction(value) for name, value in pairs}
        except ValueError:
            raise InputError(f"the constants are '{self.constants}'; expected such as 'low=27/40'") from None


PROPERTY = LemmaHolds
