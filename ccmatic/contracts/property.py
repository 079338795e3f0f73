"""Properties: the contract of a file in properties/."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from fractions import Fraction
from typing import Any, Self

from ccmatic.base import InputError, exact, shown, suggest
from ccmatic.contracts.model import Model
from ccmatic.contracts.query import Buffer, Exclusion
from ccmatic.contracts.reason import Reason, Stated
from ccmatic.contracts.views import Bounds, NetworkView
from ccmatic.logic import Truth


@dataclass(frozen=True)
class WayToFail:
    """One way in which a property can fail: a disjunct of its negation.

    A WayToFail has the smallest encoding that a query about the disjunct needs.

    Attributes:
        name: The name of this way to fail.
        formula: The condition that a trace satisfies if the property fails in this way.
        any_rates: Whether the failure is independent of the controller, so that the rates may be arbitrary.
        reads: The names of the beliefs that the formula reads.
        bounds: The assumption about bounds. The value is STAY if the property can fail in this way only while no bound
            moves. The value is HOLD if the query may omit traces on which a bound turns false, because another
            WayToFail with `any_rates` covers them (docs/reference/encoding.md, section 8, point 5). Otherwise the value
            is MOVE.
        premise: The condition under which the property applies; a failure requires this condition in addition to the
            formula. If no trace of a controller satisfies the premise, the property says nothing about that controller.
        premises: The parts of the premise, by their names in messages.
    """

    name: str
    formula: Callable[[NetworkView], Truth]
    any_rates: bool = False
    reads: tuple[str, ...] = ()
    bounds: Bounds = Bounds.MOVE
    premise: Callable[[NetworkView], Truth] | None = None
    premises: Callable[[NetworkView], Mapping[str, Truth]] | None = None


class Property:
    """A requirement on a controller.

    A subclass is a frozen dataclass whose fields are its thresholds. A Fraction threshold is at least 0, and at most
    the `most` in the field's metadata (see `share`). A text threshold is one of the metadata's `choices`. The subclass
    defines `name` and three methods. `ways_to_fail(model, buffer)` yields every WayToFail. `objectives(model, x)`
    returns the named parts that explain a failure, where x has moving bounds. `holds(objectives)` combines the parts.

    Attributes:
        name: The name of the property.
        deployed: Whether the property concerns a window of a deployed controller. The beliefs of such a controller may
            be false at first, and may time out at the end.
        period: The period in steps, if the property concerns executions that repeat for ever; otherwise None.
        pauses: Whether the property supports senders whose applications pause. This requires that pauses alone do not
            break the property.
    """

    name: str
    deployed: bool = False
    pauses: bool = False
    period: int | None = None

    def ways_to_fail(self, model: Model, buffer: Buffer) -> Iterable[WayToFail]:
        """Return every way in which the property can fail.

        The property holds if and only if no trace fails in any of these ways.
        """
        raise NotImplementedError

    def exclusions(self, model: Model, reads: Collection[str]) -> Iterable[Exclusion]:
        """Return the executions that this property excludes, in addition to the exclusions of network and controller.

        Args:
            model: The network model.
            reads: The names that the controller reads.
        """
        return ()

    def of_small_packets(self, model: Model) -> "Property":
        """Return this property for packets below C·R_m/5, for a model whose laws do not bound the packet size.

        Commands check this version by default. The property is unchanged if the property itself restricts packets, or
        if the laws of its models do (`contracts.model`).
        """
        return self

    def judges(self, model: Model) -> set[str]:
        """Return the names of the beliefs that are necessary to judge a trace: the beliefs that can be false."""
        return {belief.name for belief in model.carried_over()}

    def objectives(self, model: Model, x: NetworkView) -> Mapping[str, Truth]:
        """Return the parts of the property by name, for explanations.

        Each part is a condition that a good trace satisfies.
        """
        raise NotImplementedError

    def in_words(self, objective: str) -> str:
        """Return an objective in words; by default its name."""
        return objective

    def holds(self, objectives: Mapping[str, bool]) -> bool:
        """Return whether a trace satisfies the property.

        `objectives` states for each part, by name, whether the trace satisfies the part.
        """
        raise NotImplementedError

    def reasons(self, model: Model, x: NetworkView) -> Mapping[str, Reason]:
        """Return a reason for each objective, by the objective's name. The condition of the reason is the objective.

        A property may override this method and derive its objectives from the reasons (see `contracts.reason`). In this
        case, its explanations contain numbers.
        """
        return {name: Stated(name, condition) for name, condition in self.objectives(model, x).items()}

    @classmethod
    def thresholds(cls) -> tuple[Field[Any], ...]:
        declared: Any = cls
        return fields(declared)

    def parameters(self) -> dict[str, str]:
        """Return the values of the thresholds by name, as text, for records."""
        return {threshold.name: str(getattr(self, threshold.name)) for threshold in self.thresholds()}

    @classmethod
    def from_parameters(cls, given: Mapping[str, Any], allow_code: bool = False) -> Self:
        """Return the property with given values for some thresholds.

        Args:
            given: The values by the names of the thresholds. Text and integers are read as exact numbers.
            allow_code: As in `definitions.load`, for a property whose thresholds name definitions.

        Raises:
            InputError: If a threshold does not exist, or does not accept its value.
        """
        thresholds = {threshold.name: threshold for threshold in cls.thresholds()}
        values = {}
        for name, value in given.items():
            if name not in thresholds:
                raise InputError(f"{cls.name} has no parameter '{name}'; {suggest(name, thresholds)}")
            values[name] = _read(thresholds[name], value)
        return cls(**values)


def share(default: Fraction | int | str) -> Any:
    """Return a dataclass field for a threshold that is a share, from 0 to 1."""
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
