"""Records as JSON and back. Each shape of data that leaves ccmatic is a class; what comes in is checked against it,
field by field, and a mistake is told with its place, what was found there and what was expected."""

import json
import re
from bisect import bisect_left
from fractions import Fraction
from functools import partial

import msgspec

from ccmatic.base import InputError, exact, parse_json, shown

#: A field that may be absent, which is not the same as null.
Absent, ABSENT = msgspec.UnsetType, msgspec.UNSET

#: How msgspec tells mistakes, and how that is said here.
_EXPECTED = re.compile("Expected `([^`]+)`, got `[^`]+`$")
_TYPES = {"str": "text", "int": "a whole number", "float": "a number", "array": "a list", "bool": "true or false"}
_PHRASES = {
    "Object missing required field": "expected the key",
    "Object contains unknown field": "unknown key",
    "Invalid enum value": "found another word,",
    "`": "'",
}

_PART = re.compile(r"\.(\w+)|\[(\d+)\]|\[(\.\.\.)\]")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A shape of JSON objects. Numbers that decide anything are Fractions, in JSON text such as "3/10". A record that
    is a file has a tag, its name and number: the field `format`."""


def read_record(text, kind, file=None):
    """The Record in a file's JSON text. kind: its class. Raises InputError, which names `file`, where the text is no
    JSON, is in another format, or is not of this shape."""
    value = parse_json(text, file)
    require_format(value, kind, file)
    return convert(value, kind, file)


def require_format(value, kind, file=None):
    """Raise InputError unless data say that they are in this kind's format."""
    tag = kind.__struct_config__.tag
    given = value.get("format") if isinstance(value, dict) else None
    if given != tag:
        about = f"; its format is {shown(given)!r}" if given else ""
        raise InputError(f'expected a {tag.split()[1]}, with "format": "{tag}"{about}', file)


def convert(value, kind, file=None, what=None):
    """The Record that data, dicts and lists such as `parse_json` gives, say. kind: its class. what: the data are, for
    the message. Raises InputError, which names `file` and the field, where they are not of this shape."""
    try:
        return _convert(value, kind)
    except msgspec.ValidationError as error:
        raise InputError(_message(value, kind, str(error), what), file) from None


def data(record):
    """The record as dicts, lists, text and numbers, for JSON."""
    return msgspec.to_builtins(record, enc_hook=str)


def line(record):
    """The record as one line of JSON."""
    return json.dumps(data(record))


def _convert(value, kind):
    return msgspec.convert(value, kind, dec_hook=_exact)


def _exact(kind, value):
    """The number that text in a record says."""
    if kind is not Fraction:
        raise NotImplementedError(kind)
    try:
        return exact(value)
    except InputError as error:
        raise ValueError(error.message) from None


def _message(whole, kind, complaint, what):
    """Return the message for a complaint of msgspec."""
    message, _, path = complaint.partition(" - at `$")
    place, value = _place(whole, kind, path.removesuffix("`"), complaint)
    if expected := _EXPECTED.match(message):
        types = " or ".join(_TYPES.get(name, name) for name in expected[1].split(" | "))
        message = f"found {shown(value)}; expected {types}"
    for theirs, ours in _PHRASES.items():
        message = message.replace(theirs, ours)
    return ": ".join([", ".join(filter(None, [what, place])), message]).removeprefix(": ")


def _place(value, kind, path, complaint):
    """Where a path of msgspec's leads, in words, and what is there. Keys of a dict, which it tells as `[...]`, are
    found by reading the beginning of that dict alone."""
    names, rebuilt = [], lambda part: part
    for field, index, any_key in _PART.findall(path):
        key = _first_wrong_key(value, rebuilt, kind, complaint) if any_key else int(index) if index else field
        names.append(f"[{index}]" if index else f", {shown(key)}")
        rebuilt, value = partial(_with, rebuilt, value, key), value[key]
    return "".join(names).removeprefix(", "), value


def _first_wrong_key(value, rebuilt, kind, complaint):
    keys = list(value)

    def fails(count):
        try:
            _convert(rebuilt({key: value[key] for key in keys[:count]}), kind)
        except msgspec.ValidationError as error:
            return str(error) == complaint
        return False

    return keys[bisect_left(range(1, len(keys)), True, key=fails)]


def _with(rebuilt, whole, key, part):
    """What `rebuilt` makes of a copy of the whole that has this part."""
    copy = whole.copy()
    copy[key] = part
    return rebuilt(copy)
