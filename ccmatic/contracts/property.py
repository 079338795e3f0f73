"""Properties: the contract that a file in properties/ fills."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from fractions import Fraction

from ccmatic.base import InputError, exact, shown, suggest
from ccmatic.contracts.belief import Bounds
from ccmatic.contracts.reason import Stated


@dataclass(frozen=True)
class WayToFail:
    """One disjunct of a property's negation, with the least that a query for it must encode.

    formula(x): what is then true of the trace. any_rates: it does not depend on the controller, so the rates may be
    anyone's. reads: names of the beliefs that the formula reads.
    bounds: STAY where it can only happen while no bound moves; HOLD where traces on which a bound turns false may be
    left out, as another way, asked for any rates, covers them (docs/encoding.md, section 8, point 5); else MOVE.
    """

    name: str
    formula: Callable
    any_rates: bool = False
    reads: tuple = ()
    bounds: Bounds = Bounds.MOVE


class Property:
    """What a controller must ensure. A subclass is a frozen dataclass whose fields are its thresholds (a Fraction is
    at least 0, and at most its metadata's `most`: see `share`; text is one of its metadata's `choices`), and gives
    `name`, `ways_to_fail(model, x)` and `objectives(model, x)`: every way that the property can fail, and the
    named parts that explain a failure (x has moving bounds there). `deployed`: it is about a window of a controller
    as deployed, whose beliefs may be false at first and time out at the end."""

    name = None
    deployed = False

    def ways_to_fail(self, model, buffer):
        """The ways; the property holds if and only if no trace goes any of them."""
        raise NotImplementedError

    def judges(self, model):
        """Names of the beliefs without which a trace cannot be judged: those that can be false."""
        return {belief.name for belief in model.carried_over()}

    def objectives(self, model, x):
        """Named conditions on a trace, for explanations."""
        raise NotImplementedError

    def reasons(self, model, x):
        """What the objectives are the conditions of, by the same names: a property that gives these (see
        `contracts.reason`), and its objectives as their conditions, is told with its numbers."""
        return {name: Stated(name, condition) for name, condition in self.objectives(model, x).items()}

    def parameters(self):
        """The thresholds as text, for records."""
        return {each.name: str(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_parameters(cls, given, allow_code=False):
        """The property with some thresholds set; text and integers are read as exact numbers. allow_code: as in
        `definitions.load`, for one that names definitions."""
        known = {each.name: each for each in fields(cls)}
        values = {}
        for name, value in given.items():
            if name not in known:
                raise InputError(f"{cls.name} has no parameter '{name}'; {suggest(name, known)}")
            values[name] = _read(known[name], value)
        return cls(**values)


def share(default):
    """A threshold that is a share: from 0 to 1."""
    return field(default=Fraction(default), metadata={"most": 1})


def _read(threshold, value):
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
