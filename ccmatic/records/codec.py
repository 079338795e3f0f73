"""Conversion of records to JSON and back.

Each form of data that ccmatic writes is a class. When ccmatic reads data, it checks each field against this class. An
error message names the place, the value at this place, and the expected type.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias, TypeVar

import msgspec

from ccmatic.base import InputError, exact, parse_json, shown

#: The value of a field that may be absent. An absent field is not the same as null.
Absent: TypeAlias = msgspec.UnsetType
ABSENT = msgspec.UNSET

#: The wording of msgspec's error messages, and the corresponding wording of ccmatic.
_EXPECTED = re.compile("Expected `([^`]+)`, got `[^`]+`$")
_BOUND = re.compile(r"Expected `int` (>=|<=) (-?\d+)$")
_TYPES = {"str": "text", "int": "a whole number", "float": "a number", "array": "a list", "bool": "true or false"}
_PHRASES = {
    "Object missing required field": "expected the key",
    "Object contains unknown field": "unknown key",
    "Invalid enum value": "found another word,",
    "`": "'",
}

R = TypeVar("R")

_PART = re.compile(r"\.(\w+)|\[(\d+)\]|\[(\.\.\.)\]")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base class of all JSON objects that ccmatic writes.

    Numbers that decide a verdict are Fractions. In JSON they are text such as "3/10". If a record is a whole file, its
    field `format` contains the name and version of the format.
    """


def read_record(text: str, kind: type[R], file: str | None = None, what: str | None = None) -> R:
    """Read a Record from JSON text, whose `format` must be that of the class.

    Errors name the file, and `what` it should be.
    """
    value = parse_json(text, file)
    require_format(value, kind, file)
    return convert(value, kind, file, what)


def has_format(value: object, kind: type[Any]) -> bool:
    return isinstance(value, dict) and value.get("format") == kind.__struct_config__.tag


def require_format(value: object, kind: type[Any], file: str | None = None) -> None:
    if not has_format(value, kind):
        tag = kind.__struct_config__.tag
        given = value.get("format") if isinstance(value, dict) else None
        about = f"; its format is {shown(given)!r}" if given else ""
        kind_of_file = tag.split()[1]
        article = "an" if kind_of_file[0] in "aeiou" else "a"
        raise InputError(f'expected {article} {kind_of_file}, with "format": "{tag}"{about}', file)


def convert(value: object, kind: type[R], file: str | None = None, what: str | None = None) -> R:
    """Convert dicts and lists, such as `parse_json` returns, to a Record.

    An InputError names the file, `what` the data should be (a noun phrase), and the wrong field.
    """
    try:
        return _convert(value, kind)
    except msgspec.ValidationError as error:
        raise InputError(_message(value, kind, str(error), what), file) from None


def data(record: object) -> Any:
    """Return the record as dicts, lists, text and numbers, for JSON."""
    return msgspec.to_builtins(record, enc_hook=str)


def line(record: object) -> str:
    return json.dumps(data(record))


def _convert(value: object, kind: type[R]) -> R:
    return msgspec.convert(value, kind, dec_hook=_exact)


def _exact(kind: type[Any], value: Any) -> Fraction:
    if kind is not Fraction:
        raise NotImplementedError(kind)
    try:
        return exact(value)
    except InputError as error:
        raise ValueError(error.message) from None


def _message(whole: object, kind: type[Any], complaint: str, what: str | None) -> str:
    message, _, path = complaint.partition(" - at `$")
    place, value = _place(whole, kind, path.removesuffix("`"), complaint)
    if expected := _EXPECTED.match(message):
        types = " or ".join(_TYPES.get(name, name) for name in expected[1].split(" | "))
        message = f"found {shown(value)}; expected {types}"
    if bound := _BOUND.match(message):
        side = "least" if bound[1] == ">=" else "most"
        message = f"found {shown(value)}; expected a whole number, at {side} {bound[2]}"
    for theirs, ours in _PHRASES.items():
        message = message.replace(theirs, ours)
    return ": ".join([", ".join(filter(None, [what, place])), message]).removeprefix(": ")


def _place(value: Any, kind: type[Any], path: str, complaint: str) -> tuple[str, Any]:
    """Return the place that a path of msgspec denotes, in words, and the value at this place.

    For a key of a dict, msgspec reports only `[...]`. A bisection finds the key: it searches for the shortest prefix of
    the dict that is invalid.
    """
    names: list[str] = []
    rebuilt: Callable[[Any], Any] = lambda part: part  # noqa: E731
    for field, index, any_key in _PART.findall(path):
        key = _first_wrong_key(value, rebuilt, kind, complaint) if any_key else int(index) if index else field
        names.append(f"[{index}]" if index else f", {shown(key)}")
        rebuilt, value = partial(_with, rebuilt, value, key), value[key]
    return "".join(names).removeprefix(", "), value


def _first_wrong_key(value: dict[Any, Any], rebuilt: Callable[[Any], Any], kind: type[Any], complaint: str) -> Any:
    keys = list(value)

    def fails(count: int) -> bool:
        try:
            _convert(rebuilt({key: value[key] for key in keys[:count]}), kind)
        except msgspec.ValidationError as error:
            return str(error) == complaint
        return False

    return keys[bisect_left(range(1, len(keys)), True, key=fails)]


def _with(rebuilt: Callable[[Any], Any], whole: Any, key: Any, part: Any) -> Any:
    """Return the result of `rebuilt` for a copy of `whole`. In this copy, the value at `key` is `part`."""
    copy = whole.copy()
    copy[key] = part
    return rebuilt(copy)
