"""Property: a guarantee for all time. All lemmas of a shape in proofs/ hold for given values of its constants."""

from dataclasses import dataclass, field
from fractions import Fraction

from ccmatic.proofs import SHAPES
from ccmatic.properties.lemma import LemmaHolds

from ccmatic.base import InputError, exact, shown, suggest
from ccmatic.contracts import Bounds, Buffer, Property, RecordingDict, execution, load_definition
from ccmatic.logic import isolated


@dataclass(frozen=True)
class Guarantee(Property):
    """All lemmas of a shape hold for given values of the shape's constants.

    Attributes:
        shape: The name of the shape.
        constants: The value of each constant, by name. Each value is a floor: a proof of this value or of a better
            value implies the property.
        definition: The Proof that defines the shape.
    """

    name = "guarantee"
    deployed = True

    shape: str
    constants: dict[str, Fraction]
    definition: object = field(compare=False, repr=False)

    @classmethod
    def from_parameters(cls, given, allow_code=False):
        """Return the property that a record or given floors describe.

        Floors are required for constants in the conditions of states. They may be omitted for constants in objectives,
        or in statements about the speed at which windows leave states. A statement whose constant is omitted is no
        requirement. Without `shape`, the property takes the first shape that has all of the constants.
        """
        floors = dict(given)
        shape = floors.pop("shape", None) or _first_with(floors)
        if shape not in SHAPES:
            raise InputError(f"there is no shape '{shown(shape)}'; {suggest(shown(shape), SHAPES)}")
        definition = load_definition("proofs", "PROOF", shape)
        declared = {constant.name: constant for constant in definition.constants}
        for name in floors:
            if name not in declared:
                raise InputError(f"the shape {shape} has no constant '{name}'; {suggest(name, declared)}")
        missing = [name for name in declared if name in _of_states(definition) and name not in floors]
        if missing:
            raise InputError(f"expected {', '.join(missing)} as well, because the states of {shape} read them")
        values = {name: _value(each, floors.get(name, each.grid()[0])) for name, each in declared.items()}
        return cls(shape, values, definition)

    def parameters(self):
        """Return the property's parameters for a record."""
        return {"shape": self.shape, **{name: str(value) for name, value in self.constants.items()}}

    def ways_to_fail(self, model, buffer):
        """Yield one way to fail per lemma: a window that breaks the lemma."""
        if model.name != self.definition.model:
            raise InputError(f"the shape {self.shape} is of {self.definition.model}; found the model {model.name}")
        for lemma in self._lemmas(model):
            yield from lemma.ways_to_fail(model, buffer)

    def judges(self, model):
        """Return the beliefs that the shape reads."""
        return set(self.definition.beliefs)

    def objectives(self, model, x):
        """Return each lemma as a condition."""
        return {name: reason.condition for name, reason in self.reasons(model, x).items()}

    def reasons(self, model, x):
        """Return each lemma with its explanation."""
        return {name: reason for lemma in self._lemmas(model) for name, reason in lemma.reasons(model, x).items()}

    def holds(self, objectives):
        """Return whether all lemmas hold."""
        return all(objectives.values())

    def _lemmas(self, model):
        """Yield each lemma as a property."""
        constants = ", ".join(f"{name}={value}" for name, value in self.constants.items())
        for lemma in self.definition.all_lemmas(model):
            yield LemmaHolds(self.shape, lemma.name, constants, self.definition)


def _first_with(floors):
    shapes = {name: load_definition("proofs", "PROOF", name) for name in SHAPES}
    constants = {name: {constant.name for constant in shape.constants} for name, shape in shapes.items()}
    for name in floors:
        if not any(name in names for names in constants.values()):
            raise InputError(f"no shape has a constant '{name}'; {suggest(name, set().union(*constants.values()))}")
    fitting = [shape for shape, names in constants.items() if floors.keys() <= names]
    if not fitting:
        raise InputError(f"no shape has all of {', '.join(floors)}")
    return fitting[0]


def _value(constant, given):
    """Return the value of a constant. Raise InputError if the value is out of range."""
    try:
        value = exact(given)
    except InputError:
        value = None
    if value is None or not constant.low <= value <= constant.high:
        raise InputError(f"{constant.name} is {shown(given)}; expected a number from {constant.low} to {constant.high}")
    return value


@isolated
def _of_states(definition):
    """Return the names of the constants that the conditions of a proof's states read."""
    model = load_definition("models", "MODEL", definition.model)
    buffer = Buffer.parse(definition.buffer)
    x = execution(model, definition.horizon, buffer, definition.jitter, Bounds.DEPLOYED)
    reads = RecordingDict({constant.name: constant.low for constant in definition.constants})
    for state in definition.states:
        state.holds(x, 0, reads)
    return reads.names


PROPERTY = Guarantee
