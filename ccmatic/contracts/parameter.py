"""Parameters of definitions. A name such as `ccac2021:flows=2` sets them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from ccmatic.base import InputError, exact, shown


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model.

    Attributes:
        field: The field of the model that the parameter sets.
        read: A function that converts a text to a value. The function raises ValueError or InputError for any other
            text.
        expected: A description of the texts that `read` accepts.
    """

    field: str
    read: Callable[[str], Any]
    expected: str

    def value(self, name: str, text: str) -> Any:
        """Return the value that a text denotes.

        Raises:
            InputError: If the text denotes no value of this parameter. The message names the parameter.
        """
        try:
            return self.read(text)
        except (ValueError, InputError):
            raise InputError(f"{name} is '{shown(text)}'; expected {self.expected}") from None


def whole(field: str, least: int | None = None) -> Parameter:
    """Return a parameter whose value is an integer, at least `least` if given."""
    return Parameter(field, _at_least(least, int), f"a whole number{_from(least)}")


def number(field: str, least: Fraction | int | None = None) -> Parameter:
    """Return a parameter whose value is a number, such as 3/2, at least `least` if given."""
    return Parameter(field, _at_least(least, exact), f"a number such as 3/2{_from(least)}")


def _at_least(least: Fraction | int | None, read: Callable[[str], Any]) -> Callable[[str], Any]:
    def read_and_compare(text: str) -> Any:
        value = read(text)
        if least is not None and value < least:
            raise ValueError(text)
        return value

    return read_and_compare


def _from(least: Fraction | int | None) -> str:
    return "" if least is None else f", at least {least}"


def choice(field: str, values: Mapping[str, Any]) -> Parameter:
    """Return a parameter whose text is one of several words. `values` maps each word to its value."""

    def read(text: str) -> Any:
        if text not in values:
            raise ValueError(text)
        return values[text]

    return Parameter(field, read, f"one of {', '.join(values)}")


#: The parameter of networks whose senders may pause: `application=pauses` sets the model's field `pauses`.
APPLICATION = MappingProxyType({"application": choice("pauses", {"always": False, "pauses": True})})
