"""Properties: the contract that a file in properties/ fills."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from fractions import Fraction
from typing import Any, Self

from ccmatic.base import InputError, exact, shown, suggest
from ccmatic.contracts.buffer import Buffer
from ccmatic.contracts.exclusion import Exclusion
from ccmatic.contracts.model import Model
from ccmatic.contracts.reason import Reason, Stated
from ccmatic.contracts.views import Bounds, NetworkView
from ccmatic.logic import Truth


@dataclass(frozen=True)
class WayToFail:
    """One disjunct of a property's negation, with the least that a query for it must encode.

    formula(x): what is then true of the trace. premise(x): what the property speaks of only where it is true, and so
    what is true of the trace, too; where no trace of a controller has it, nothing is said of that one.
    premises(x): the parts of the premise, by what messages call them.
    any_rates: it does not depend on the controller, so the rates may be anyone's. reads: names of the beliefs that the
    formula reads.
    bounds: STAY where it can only happen while no bound moves; HOLD where traces on which a bound turns false may be
    left out, as another way, asked for any rates, covers them (docs/encoding.md, section 8, point 5); else MOVE.
    """

    name: str
    formula: Callable[[NetworkView], Truth]
    any_rates: bool = False
    reads: tuple[str, ...] = ()
    bounds: Bounds = Bounds.MOVE
    premise: Callable[[NetworkView], Truth] | None = None
    premises: Callable[[NetworkView], Mapping[str, Truth]] | None = None


class Property:
    """What a controller must ensure. A subclass is a frozen dataclass whose fields are its thresholds (a Fraction is
    at least 0, and at most its metadata's `most`: see `share`; text is one of its metadata's `choices`), and gives
    `name`, `ways_to_fail(model, buffer)`: every way that the property can fail, `objectives(model, x)`: the named parts
    that explain a failure (x has moving bounds there), and `holds(objectives)`: what they come to.
    deployed: it is about a window of a controller as deployed, whose beliefs may be false at first and time out at the
    end. period: it is about executions that repeat themselves every so many steps, for ever; None if it is not."""

    name: str
    deployed: bool = False
    period: int | None = None

    def ways_to_fail(self, model: Model, buffer: Buffer) -> Iterable[WayToFail]:
        """The ways, each a WayToFail; the property holds if and only if no trace goes any of them."""
        raise NotImplementedError

    def exclusions(self, model: Model, reads: Collection[str]) -> Iterable[Exclusion]:
        """What a question about this property leaves out, beyond what the network and the controller do. reads: what
        the controller reads."""
        return ()

    def of_small_packets(self, model: Model) -> "Property":
        """Return the same property of packets smaller than C·R_m/5, for a model whose laws do not bound them.

        Commands ask so by default. A property stays as it is if it says something of packets itself, or is about models
        whose laws do (`contracts.model`)."""
        return self

    def judges(self, model: Model) -> set[str]:
        """Names of the beliefs without which a trace cannot be judged: those that can be false."""
        return {belief.name for belief in model.carried_over()}

    def objectives(self, model: Model, x: NetworkView) -> Mapping[str, Truth]:
        """The parts of the property by name, each a formula true of a trace that meets it; for explanations."""
        raise NotImplementedError

    def holds(self, objectives: Mapping[str, bool]) -> bool:
        """Whether a trace keeps the property, given the truth of each objective."""
        raise NotImplementedError

    def reasons(self, model: Model, x: NetworkView) -> Mapping[str, Reason]:
        """What the objectives are the conditions of, by the same names: a property that gives these (see
        `contracts.reason`), and its objectives as their conditions, is told with its numbers."""
        return {name: Stated(name, condition) for name, condition in self.objectives(model, x).items()}

    @classmethod
    def thresholds(cls) -> tuple[Field[Any], ...]:
        """The fields of the dataclass that a subclass is."""
        declared: Any = cls
        return fields(declared)

    def parameters(self) -> dict[str, str]:
        """The thresholds by name, as text, for records."""
        return {threshold.name: str(getattr(self, threshold.name)) for threshold in self.thresholds()}

    @classmethod
    def from_parameters(cls, given: Mapping[str, Any], allow_code: bool = False) -> Self:
        """The property with some thresholds set, by name; text and integers are read as exact numbers. allow_code: as
        in `definitions.load`, for one that names definitions. Raises InputError for a name or a value that is none."""
        thresholds = {threshold.name: threshold for threshold in cls.thresholds()}
        values = {}
        for name, value in given.items():
            if name not in thresholds:
                raise InputError(f"{cls.name} has no parameter '{name}'; {suggest(name, thresholds)}")
            values[name] = _read(thresholds[name], value)
        return cls(**values)


def share(default: Fraction | int | str) -> Any:
    """A field of a property's dataclass for a threshold that is a share: from 0 to 1."""
    return field(default=Fraction(default), metadata={"most": 1})


def _read(threshold: Field[Any], value: Any) -> Any:
    if threshold.type not in (Fraction, "Fraction"):
        choices = threshold.metadata["choices"]
        if value not in choices:
            expected = ", ".join(choices)
            raise InputError(f"{threshold.name} is '{value}'; expected one of {expected}")
        return value
    try:
        number = exact(value)
    except InputError:
        expected = 'an exact number, such as 3 or "1/2"'
        raise InputError(f"{threshold.name} is {shown(value)}; expected {expected}") from None
    most = threshold.metadata.get("most")
    if number < 0 or (most is not None and number > most):
        expected = "a number >= 0" if most is None else f"a number from 0 to {most}"
        raise InputError(f"{threshold.name} is {shown(value)}; expected {expected}")
    return number
