"""Descriptions of networks as text: `ccac, buffer 1 bdp, jitter 1 rtt` or `24 mbit, rtt 40 ms, outage 2 rtt`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from math import ceil

from ccmatic.base import InputError, counted, exact, quantities, shown

#: The number of bytes in a packet, unless a description states it.
PACKET = 1500

#: An example of each part of the description of a change, and of a network.
_CHANGE = {"outage": "outage 2 rtt", "change": "change rtt x2", "queue": "queue lost", "at": "at 3 rtt"}

_KEYS = {
    "rtt": "rtt 40 ms",
    "buffer": "buffer 1 bdp",
    "bucket": "bucket 1 bdp",
    "threshold": "threshold 1/2 bdp",
    "jitter": "jitter 1 rtt",
    "aggregation": "aggregation 1 rtt",
    "packet": "packet 1500",
    "flows": "flows 3",
    "application": "application pauses",
    **_CHANGE,
    "loss": "loss 1%",
    "burst": "burst 1 packet",
}
_STORES = ("buffer", "bucket")
_PACKETS = ("packet", "packets")

#: The parameters of models that items of a description set.
SETTINGS = {"loss": "loss_rate", "burst": "loss_burst"}
_NO_COMMA = re.compile(rf"\s+(?=(?:{'|'.join(_KEYS)})\s+(?:[>\d]|infinite|any))", re.ASCII)
_PARAMETER = re.compile(r"\w+=\S+", re.ASCII)
_RATE = re.compile(r"(?:([^\s\d]\S*) )?([\d./]+\s*[kmg]?bit)", re.ASCII)
_OTHER_RATE = re.compile(r"([\d./]+)\s*([kmg]?)(?:bps|bits?(?:/s|ps)?)", re.ASCII | re.IGNORECASE)
AMOUNT = re.compile(r"(\d{1,30}(?:\.\d{1,30}|/\d{1,30})?)\s*(bdp|rtt)?", re.ASCII)
_CHANGED = ("rtt", "rate", "buffer")
_NUMBER = r"\d{1,9}(?:\.\d{1,9}|/\d{1,9})?"
_FACTOR = re.compile(rf"(\w+)\s+x\s*({_NUMBER})(?:\s*\.\.\s*x?\s*({_NUMBER}))?(?:\s+and)?", re.ASCII)
_TIMES = re.compile(rf"({_NUMBER})(?:\s*\.\.\s*({_NUMBER}))?\s*(\w+)", re.ASCII)


@dataclass(frozen=True)
class Change:
    """The change of a path. All numbers are relative to the path before the change.

    Args:
        factors: The least and the largest factor of each changed quantity, by name: rtt, rate, buffer.
        outage: The longest time without service before the change, in R_m.
        loses: Whether the link loses the bytes that wait at the change.
        at: The earliest and the latest beginning of the change in R_m; None for any instant.
    """

    factors: Mapping[str, tuple[Fraction, Fraction]]
    outage: Fraction
    loses: bool
    at: tuple[Fraction, Fraction] | None

    def parameters(self) -> str:
        """Return the parameters of the model that represents the change."""
        parts = {name: _range(*both) for name, both in self.factors.items()}
        parts |= {"outage": str(self.outage)} if self.outage else {}
        parts |= {"queue": "lost"} if self.loses else {}
        parts |= {"at": _range(*self.at)} if self.at else {}
        return ",".join(f"{name}={text}" for name, text in parts.items())


@dataclass(frozen=True)
class NetworkDescription:
    """The network that the text of `--on` describes. A part is None if the text does not have it.

    Attributes:
        text: The whole text.
        model: The name or path of a model.
        rate: The link's rate C in bytes per second.
        rtt: The round-trip propagation delay R_m in seconds.
        buffer: The buffer as the user wrote it: `infinite`, `any`, or a size, possibly after >=. A size in packets is
            converted to bytes.
        store: The noun before the size in the text: `buffer`, or `bucket` for a policer.
        jitter: The jitter D as the user wrote it.
        packet: The packet size MSS in bytes.
        flows: The number of flows that share the network.
        pauses: Whether applications may pause.
        threshold: The queue above which the link marks packets, as the buffer.
        change: The change of the path.
        aggregates: Whether a part of the jitter is the aggregation of acknowledgements.
        settings: Parameters of the model, as in its name.
    """

    text: str
    model: str | None
    rate: Fraction | None
    rtt: Fraction | None
    buffer: str
    jitter: str | None
    packet: int
    flows: int | None
    store: str = "buffer"
    pauses: bool = False
    threshold: str | None = None
    change: Change | None = None
    aggregates: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def jitter_seconds(self) -> Fraction | None:
        """The jitter D in seconds; None without jitter, or in round trips of unknown length."""
        if self.jitter is None:
            return None
        match = AMOUNT.fullmatch(self.jitter)
        if match and (match[2] == "rtt" or not exact(match[1])):
            return exact(match[1]) * self.rtt if self.rtt is not None else None
        return quantities.duration(self.jitter)

    @property
    def bdp(self) -> Fraction | None:
        """The bandwidth-delay product C·R_m in bytes, or None if the text does not determine it."""
        return None if self.rate is None or self.rtt is None else self.rate * self.rtt


def describe(text: str) -> NetworkDescription:
    """Return the NetworkDescription of a text such as `24 mbit, rtt 40 ms, buffer 1 bdp`. May raise InputError."""
    first, *others = _items(text)
    values: dict[str, str] = {}
    for item in others:
        key, _, value = item.partition(" ")
        if key not in _KEYS or not value.strip():
            raise InputError(f"cannot read '{shown(item)}' in '{shown(text)}'; {_expected(item)}")
        if key in values:
            raise InputError(f"'{shown(text)}' says {key} twice; expected it once")
        values[key] = value.strip()
    before, colon, parameters = first.partition(":")
    path = _RATE.fullmatch(before)
    is_path = path is not None
    model = path[1] and f"{path[1]}{colon}{parameters}" if path else first
    if path and parameters and not model:
        raise InputError(
            f"'{shown(parameters)}' is a parameter of a model, and {before} is a path; expected such as 'ccac, R=4, …'"
        )
    if not path:
        _require_model(first)
    stores = [key for key in _STORES if key in values]
    if len(stores) > 1:
        raise InputError(f"'{shown(text)}' has a {' and a '.join(stores)}; expected one of them")
    if not stores or (is_path and "rtt" not in values):
        missing = [*(["rtt"] if is_path and "rtt" not in values else []), *([] if stores else ["buffer"])]
        raise InputError(f"'{shown(text)}' lacks its {' and '.join(missing)}; expected such as '{example(is_path)}'")
    rtt = _rtt(values["rtt"]) if "rtt" in values else None
    for key in ("jitter", "aggregation"):
        if key in values:
            _require_jitter(key, values[key], rtt)
    [store] = stores
    _require_buffer(values[store], store, is_path)
    if "threshold" in values:
        _require_threshold(values["threshold"], is_path)
    packet = _whole(values.get("packet", str(PACKET)), "packet")
    if (application := values.get("application", "pauses")) != "pauses":
        message = f"the application is '{shown(application)}'"
        raise InputError(f"{message}; expected 'application pauses', or nothing if it always has bytes to send")
    return NetworkDescription(
        text=text,
        model=model,
        rate=quantities.rate(path[2]) if path else None,
        rtt=rtt,
        buffer=_in_bytes(values[store], packet),
        jitter=_total([values[key] for key in ("jitter", "aggregation") if key in values], rtt),
        packet=packet,
        flows=_whole(values["flows"], "flows") if "flows" in values else None,
        store=store,
        pauses="application" in values,
        threshold=_in_bytes(values["threshold"], packet) if "threshold" in values else None,
        change=_read_change(values, rtt),
        aggregates="aggregation" in values,
        settings={SETTINGS[key]: _setting(key, values[key]) for key in SETTINGS if key in values},
    )


def with_parameters(name: str, parameters: str) -> str:
    """Return a model's name with further parameters."""
    return f"{name}{',' if ':' in name else ':'}{parameters}"


def _require_model(first: str) -> None:
    if re.search(r"[<>=]\s", first):
        raise InputError(f"'{shown(first)}' is an expectation; expected a network, such as '{example(False)}'")
    if ";" in first:
        raise InputError(f"'{shown(first)}' has ';' between its parts; expected ',', as in '{example(False)}'")
    if first[:1].isdigit():
        match = _OTHER_RATE.fullmatch(first)
        meant = f"did you mean '{match[1]} {match[2].lower()}bit'?" if match else "expected such as '24 mbit'"
        raise InputError(f"the rate is '{shown(first)}'; {meant}")


def _rtt(text: str) -> Fraction:
    """Return the propagation delay R_m in seconds."""
    match = quantities.QUANTITY.fullmatch(text)
    if not match or match[2] not in quantities.DURATIONS or not exact(match[1]):
        raise InputError(f"the rtt is '{shown(text)}'; expected a time above 0 with its unit, such as '40 ms'")
    return quantities.duration(text)


def _total(times: Sequence[str], rtt: Fraction | None) -> str | None:
    """Return the sum of times as text: in rtt if all times are in rtt, otherwise in ms. Without times, return None."""
    if len(times) < 2:
        return next(iter(times), None)
    match = [AMOUNT.fullmatch(text) for text in times]
    if all(match):
        return f"{sum(exact(each[1]) for each in match if each)} rtt"
    assert rtt is not None
    seconds = (
        exact(each[1]) * rtt if each else quantities.duration(text) for each, text in zip(match, times, strict=True)
    )
    return f"{sum(seconds) * 1000} ms"


def _require_jitter(what: str, text: str, rtt: Fraction | None) -> None:
    match = AMOUNT.fullmatch(text)
    if match and (match[2] == "rtt" or (not match[2] and not exact(match[1]))):
        return
    match = quantities.QUANTITY.fullmatch(text)
    is_time = bool(match and match[2] in quantities.DURATIONS)
    if not is_time or rtt is None:
        problem = f"the {what} is '{shown(text)}'{', and the network has no rtt' if is_time else ''}"
        path = ", or ms beside an rtt" if rtt is None else " or '4 ms'"
        raise InputError(f"{problem}; expected such as '1 rtt'{path}")


def _require_buffer(text: str, store: str, is_path: bool) -> None:
    if text in ("infinite", "any"):
        return
    match = quantities.QUANTITY.fullmatch(text.removeprefix(">=").strip())
    is_size = bool(match and match[2] in ("b", "kb", "mb", *_PACKETS))
    if not match or not exact(match[1]) or not (match[2] == "bdp" or (is_size and is_path)):
        problem = f"the {store} is '{shown(text)}'"
        problem += ", and the network has no rate and rtt" if is_size and not is_path else ""
        if re.search(r"[A-Z]", text) and re.search(r"(\b|\d)(infinite|any|[km]?b|bdp|packets?)$", text.lower()):
            raise InputError(f"{problem}; did you mean '{shown(text.lower())}'?")
        sizes = "'1 bdp', '>= 1 bdp' or '100 kb'" if is_path else "'1 bdp' or '>= 1 bdp'"
        raise InputError(f"{problem}; expected infinite, any, or a size above 0 such as {sizes}")


def _require_threshold(text: str, is_path: bool) -> None:
    match = quantities.QUANTITY.fullmatch(text)
    is_size = bool(match and match[2] in ("b", "kb", "mb", *_PACKETS))
    if not match or not (match[2] == "bdp" or (is_size and is_path)):
        sizes = "'threshold 1/2 bdp' or 'threshold 30 packets'" if is_path else "'threshold 1/2 bdp'"
        raise InputError(f"the threshold is '{shown(text)}'; expected a size, at least 0, such as {sizes}")


def _in_bytes(text: str, packet: int) -> str:
    """Return a buffer size as text, with packets converted to bytes."""
    sign, size = (">=", text[2:].strip()) if text.startswith(">=") else ("", text)
    match = quantities.QUANTITY.fullmatch(size)
    return f"{sign}{exact(match[1]) * packet} b" if match and match[2] in _PACKETS else text


def _expected(item: str) -> str:
    key, *_ = re.split(r"\W", item.lower(), maxsplit=1)
    near = get_close_matches(key, _KEYS, n=1)
    if not near:
        return f"expected parts such as {', '.join(_KEYS.values())}"
    amount = re.search(r"\d.*|infinite|any", item)
    return f"did you mean '{near[0]} {shown(amount[0].lower())}'?" if amount else f"expected such as '{_KEYS[near[0]]}'"


def _items(text: str) -> list[str]:
    """Return the parts of a description between commas. `parameter=value` stays together with the model's name."""
    items: list[str] = []
    for part in text.split(","):
        if items and _PARAMETER.fullmatch(part.strip()):
            items[0] = with_parameters(items[0], part.strip())
        else:
            items.append(" ".join(part.split()))
    if not all(items):
        raise InputError(f"'{shown(text)}' has an empty part; expected the whole network in quotes: '{example(False)}'")
    if any(_NO_COMMA.search(item) for item in items if not item.startswith("change ")):
        meant = ", ".join(_NO_COMMA.sub(", ", item) for item in items)
        raise InputError(f"'{shown(text)}' lacks a comma between parts; did you mean '{shown(meant, 120)}'?")
    return items


def example(is_path: bool) -> str:
    return "24 mbit, rtt 40 ms, buffer 1 bdp, jitter 4 ms" if is_path else "ccac, buffer 1 bdp, jitter 1 rtt"


def _setting(key: str, text: str) -> str:
    match = quantities.QUANTITY.fullmatch(text.removesuffix("%").strip())
    amount = exact(match[1]) if match else None
    if text[:1] in "<>=":
        raise InputError(f"'{key} {shown(text)}' is an expectation; expected '{_KEYS[key]}' in a network")
    if key == "loss":
        share = amount / (100 if text.endswith("%") else 1) if match and amount is not None and not match[2] else None
        if share is None or not 0 < share < 1:
            expected = "a share above 0% and below 100%, such as 'loss 1%', or no loss"
            raise InputError(f"the loss is '{shown(text)}'; expected {expected}")
        return str(share)
    if not match or match[2] not in _PACKETS or not amount or amount.denominator != 1:
        least = max(1, ceil(amount or 0)) if match and match[2] in _PACKETS else 1
        near = counted(least, "packet")
        raise InputError(f"the burst is '{shown(text)}'; expected whole packets, at least one, such as 'burst {near}'")
    return str(amount)


def _whole(text: str, what: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,5}", text):
        raise InputError(f"found '{what} {shown(text)}'; expected a whole number above 0, such as '{_KEYS[what]}'")
    return int(text)


def _read_change(values: Mapping[str, str], rtt: Fraction | None) -> Change | None:
    """Return the Change that the parts of a network describe, by key; None if the network does not change.

    `rtt` is R_m in seconds, if known. A part of a change without a change is an InputError.
    """
    if not values.keys() & {"outage", "change"}:
        for key in ("queue", "at"):
            if key in values:
                problem = f"'{key} {shown(values[key])}' concerns a change, and the path does not change"
                raise InputError(f"{problem}; expected also such as '{_CHANGE['outage']}' or '{_CHANGE['change']}'")
        return None
    outage = Fraction(0)
    if "outage" in values:
        least, outage = _times(values["outage"], "outage", rtt)
        if not outage or least != outage:
            raise InputError(
                f"the outage is '{shown(values['outage'])}'; expected its longest time, above 0, as '2 rtt'"
            )
    if (queue := values.get("queue", "kept")) not in ("kept", "lost"):
        raise InputError(f"the queue is '{shown(queue)}'; expected 'queue kept' or 'queue lost'")
    factors = _factors(values.get("change", ""))
    if "buffer" in factors and values.get("buffer") == "infinite":
        raise InputError("the buffer is infinite, and it changes; expected a finite buffer, such as 'buffer 1 bdp'")
    at = values.get("at", "any")
    instants = None if at == "any" else _times(at, "instant of the change", rtt)
    return Change(factors, outage, queue == "lost", instants)


def _factors(text: str) -> dict[str, tuple[Fraction, Fraction]]:
    """Return the least and the largest factor of each quantity that a text such as `rtt x2 rate x1/2` changes."""
    factors: dict[str, tuple[Fraction, Fraction]] = {}
    rest = text.strip()
    while rest:
        match = _FACTOR.match(rest)
        if not match or match[1] not in _CHANGED:
            problem = f"cannot read '{shown(rest)}' in 'change {shown(text)}'"
            raise InputError(
                f"{problem}; expected such as 'change rtt x2', 'change rate x1/2 buffer x2' or 'rtt x1..2'"
            )
        name, least, most = match[1], exact(match[2]), exact(match[3] or match[2])
        if name in factors:
            raise InputError(f"'change {shown(text)}' says {name} twice; expected it once")
        if not least:
            expected = f"a factor above 0, such as '{name} x1/2'"
            also = f", or an outage, as '{_CHANGE['outage']}'" if name == "rate" else ""
            raise InputError(f"the {name} changes by the factor 0; expected {expected}{also}")
        if least > most:
            raise InputError(f"the {name} changes by x{least}..{most}; did you mean 'x{most}..{least}'?")
        if name == "rtt" and least < 1:
            problem = f"the rtt changes by x{_range(least, most)}"
            raise InputError(
                f"{problem}; expected a factor from 1 on: a step lasts for the smallest R_m that a sender saw"
            )
        factors[name] = least, most
        rest = rest[match.end() :].strip()
    return factors


def _times(text: str, what: str, rtt: Fraction | None) -> tuple[Fraction, Fraction]:
    """Return the two ends of a time such as `2 rtt`, `80 ms` or `1..3 rtt`, in R_m."""
    match = _TIMES.fullmatch(text)
    unit = match[3] if match else ""
    if not match or not (unit == "rtt" or (unit in quantities.DURATIONS and rtt is not None)):
        known = unit in quantities.DURATIONS
        problem = f"the {what} is '{shown(text)}'{', and the network has no rtt' if known else ''}"
        either = " or 'any'" if what != "outage" else ""
        raise InputError(
            f"{problem}; expected such as '2 rtt'{either}{', or a time in ms beside an rtt' * (rtt is None)}"
        )
    scale = Fraction(1) if unit == "rtt" or rtt is None else quantities.DURATIONS[unit] / rtt
    least, most = exact(match[1]) * scale, exact(match[2] or match[1]) * scale
    if least > most:
        raise InputError(f"the {what} is '{shown(text)}'; did you mean '{match[2]}..{match[1]} {unit}'?")
    return least, most


def _range(least: Fraction, most: Fraction) -> str:
    return str(least) if least == most else f"{least}..{most}"
