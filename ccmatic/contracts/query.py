"""What a query states about a network: its buffer, its parameters, and the executions that it does not consider."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from ccmatic.base import InputError, exact, shown
from ccmatic.contracts.columns import Laws, Number
from ccmatic.logic import Linear, linear, real


@dataclass(frozen=True)
class Buffer:
    """A buffer that is `infinite`, of `any` size, of an exact size, or of a minimal size.

    Attributes:
        kind: `infinite`, `any`, `exactly` or `at least`.
        size: The size in units of C·R_m; None for `infinite` and `any`.
    """

    kind: str
    size: Fraction | None = None

    @staticmethod
    def parse(text: object) -> "Buffer":
        """Read a buffer: `infinite`, `any`, a size above 0 such as 1/2 (in C·R_m), or a minimum such as >=1/2.

        Raises:
            InputError: If the text has none of these forms.
        """
        text = str(text).strip()
        if text in ("infinite", "any"):
            return Buffer(text)
        kind, digits = ("at least", text[2:]) if text.startswith(">=") else ("exactly", text)
        try:
            size = exact(digits)
        except InputError:
            size = Fraction(0)
        if size <= 0:
            expected = "infinite, any, or a size > 0 such as '1 bdp' or '>=1 bdp'"
            raise InputError(f"the buffer is '{text:.40}'; expected {expected}")
        return Buffer(kind, size)

    def __str__(self) -> str:
        return {"exactly": str(self.size), "at least": f">={self.size}"}.get(self.kind, self.kind)

    @property
    def finite(self) -> bool:
        return self.kind != "infinite"

    def term(self) -> Linear | None:
        """Return the size β in C·R_m as a term: a number, or the unknown `beta`; None if the buffer is infinite."""
        if not self.finite:
            return None
        return linear(self.size) if self.size and self.kind == "exactly" else real("beta")

    def agrees(self, beta: Fraction) -> bool:
        """Return whether a trace's buffer size β, in C·R_m, fits this buffer. An exact size must be equal to β."""
        return self.kind != "exactly" or beta == self.size

    def laws(self, beta: Number, alpha: Number) -> Laws:
        """Yield the laws of the size β in C·R_m: β is at least the stated size, and larger than one packet (alpha)."""
        if self.finite:
            yield "buffer_holds_a_packet", 0, beta > alpha
        if self.size and self.kind == "at least":
            yield "buffer_size", 0, beta >= self.size


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


#: Every exclusion that a query may have, and the executions that the exclusion omits (docs/limits.md). An answer
#: prints the exclusions that apply to its query.
EXCLUSIONS = {
    "late losses": "executions that repeat and in which a sender detects a loss late",
    "late delays": "executions that repeat and in which a sender observes a long delay",
    "packets": "executions with large packets",
    "assumptions": "executions in which a controller's `assume` is false",
    "before the trace": "executions in which a sender acts on observations of bytes that it sent before the trace",
    "published laws": "executions that break a law of the published network",
    "seconds": "executions of a controller that reads a second, on paths whose R_m is no second",
    "first state": "executions that begin with state that the controller does not declare, or with false beliefs",
}


@dataclass(frozen=True)
class Exclusion:
    """Executions that a query does not consider.

    Attributes:
        name: One of EXCLUSIONS.
        reason: A description of these executions, and the reason why the query omits them.

    Raises:
        InputError: If EXCLUSIONS does not contain the name.
    """

    name: str
    reason: str

    def __post_init__(self) -> None:
        if self.name not in EXCLUSIONS:
            raise InputError(f"found the exclusion '{self.name}'; expected one of {', '.join(EXCLUSIONS)}")

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"
