"""Parameters of definitions: what a name such as `ccac2021:flows=2` sets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ccmatic.base import InputError, exact, shown


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model.

    Args:
        field: the field of the model that it sets.
        read: the value of a text; raises ValueError or InputError for any other text.
        expected: the texts that it reads, in words.
    """

    field: str
    read: Callable[[str], Any]
    expected: str

    def value(self, name: str, text: str) -> Any:
        """Return the value of a text. Raises InputError that names the parameter."""
        try:
            return self.read(text)
        except (ValueError, InputError):
            raise InputError(f"{name} is '{shown(text)}'; expected {self.expected}") from None


def whole(field: str) -> Parameter:
    """Return a parameter that is a whole number."""
    return Parameter(field, int, "a whole number")


def number(field: str) -> Parameter:
    """Return a parameter that is a number, such as 3/2."""
    return Parameter(field, exact, "a number such as 3/2")


def choice(field: str, values: Mapping[str, Any]) -> Parameter:
    """Return a parameter that is one of several words, which stand for values."""

    def read(text: str) -> Any:
        if text not in values:
            raise ValueError(text)
        return values[text]

    return Parameter(field, read, f"one of {', '.join(values)}")
