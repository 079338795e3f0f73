"""Networks as people write them: `ccac, buffer 1 bdp, jitter 1 rtt` or `24 mbit, rtt 40 ms, buffer 1 bdp`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from math import ceil
from typing import Any

from ccmatic.base import InputError, definitions, exact, quantities, shown
from ccmatic.contracts import Model, load_definition
from ccmatic.query import Network

#: Bytes of a packet, unless a description says otherwise.
PACKET = 1500

#: The largest packet that networks of rates have, in C times a step.
LARGEST_PACKET = Fraction(1, 5)

_KEYS = {
    "rtt": "rtt 40 ms",
    "buffer": "buffer 1 bdp",
    "jitter": "jitter 1 rtt",
    "packet": "packet 1500",
    "flows": "flows 3",
}
_PARAMETER = re.compile(r"\w+=\S+", re.ASCII)
_RATE = re.compile(r"[\d./]+\s*[kmg]?bit", re.ASCII)
_OTHER_RATE = re.compile(r"([\d./]+)\s*([kmg]?)(?:bps|bits?(?:/s|ps)?)", re.ASCII | re.IGNORECASE)
_AMOUNT = re.compile(r"(\d{1,30}(?:\.\d{1,30}|/\d{1,30})?)\s*(bdp|rtt)?", re.ASCII)


@dataclass(frozen=True)
class NetworkDescription:
    """The text of `--on`, taken apart.

    Args:
        text: The whole text.
        model: The name or path of a model; None for a path, which has a rate.
        rate: C in bytes per second; None if the text names a model and no rate.
        rtt: R_m in seconds, or None.
        buffer: As written: `infinite`, `any`, or a size, maybe with >= before it.
        jitter: D as written, or None.
        packet: MSS in bytes.
        flows: How many flows share the network, if the text says so.
    """

    text: str
    model: str | None
    rate: Fraction | None
    rtt: Fraction | None
    buffer: str
    jitter: str | None
    packet: int
    flows: int | None

    @property
    def jitter_seconds(self) -> Fraction | None:
        """D in seconds; None if the text gives it in round trips of unknown length, or not at all."""
        if self.jitter is None:
            return None
        match = _AMOUNT.fullmatch(self.jitter)
        if match and (match[2] == "rtt" or not exact(match[1])):
            return exact(match[1]) * self.rtt if self.rtt is not None else None
        return quantities.duration(self.jitter)

    @property
    def bdp(self) -> Fraction | None:
        """C·R_m in bytes, or None."""
        return None if self.rate is None or self.rtt is None else self.rate * self.rtt


@dataclass(frozen=True)
class Placed:
    """A description as a Network of the solver's.

    Args:
        network: The Network.
        units: The units of expectations there, as the expectations' own UNITS.
        given: Conditions that the description adds, in the language of `avoids`.
        notes: What the Network rounds or counts otherwise than the path, in sentences.
        steps: How many steps of the Network an R_m has.
        counts_flight: The Network's queue counts bytes in flight as well, which the path's does not.
    """

    network: Network
    units: Mapping[str, Any]
    given: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    steps: Fraction = Fraction(1)
    counts_flight: bool = False


def describe(text: str) -> NetworkDescription:
    """Return the NetworkDescription of a text such as `24 mbit, rtt 40 ms, buffer 1 bdp`. Raises InputError."""
    first, *others = _items(text)
    values: dict[str, str] = {}
    for item in others:
        key, _, value = item.partition(" ")
        if key not in _KEYS or not value.strip():
            raise InputError(f"cannot read '{shown(item)}' in '{shown(text)}'; {_expected(item)}")
        if key in values:
            raise InputError(f"'{shown(text)}' says {key} twice; expected it once")
        values[key] = value.strip()
    rate, _, parameters = first.partition(":")
    is_path = bool(_RATE.fullmatch(rate))
    if is_path and parameters:
        raise InputError(f"'{shown(parameters)}' is of a model, and {rate} is a path; expected such as 'ccac, R=4, …'")
    if not is_path:
        _require_model(first)
    if "buffer" not in values or (is_path and "rtt" not in values):
        missing = [key for key in ("rtt", "buffer") if key not in values and (is_path or key == "buffer")]
        raise InputError(f"'{shown(text)}' lacks its {' and '.join(missing)}; expected such as '{_example(is_path)}'")
    rtt = _rtt(values["rtt"]) if "rtt" in values else None
    if "jitter" in values:
        _require_jitter(values["jitter"], rtt)
    _require_buffer(values["buffer"], is_path)
    return NetworkDescription(
        text=text,
        model=None if is_path else first,
        rate=quantities.rate(first) if is_path else None,
        rtt=rtt,
        buffer=values["buffer"],
        jitter=values.get("jitter"),
        packet=_whole(values.get("packet", str(PACKET)), "packet"),
        flows=_whole(values["flows"], "flows") if "flows" in values else None,
    )


def place(description: NetworkDescription, by_window: bool, flows: int, horizon: int | None = None) -> Placed:
    """Return the Network that a description stands for.

    Args:
        description: The description.
        by_window: Whether the controllers send by a window.
        flows: How many controllers are given.
        horizon: T in steps; None: the least that the network has.

    Raises:
        InputError: The network cannot be so.
    """
    name, model = _model(description, by_window, flows)
    if not model.windows and description.rtt is not None and not model.default_jitter:
        message = f"{name} has no jitter, and where nothing propagates the round trip itself is jitter"
        raise InputError(f"{message}; expected such as '{_example(True)}', or no rtt")
    if model.windows:
        return _placed(description, name, model, model.round_trip(1), horizon)
    if description.rtt is None:
        return _placed(description, name, model, 1, horizon)
    # Where nothing propagates, the round trip is part of the jitter, and a step is R_m + D (ccmatic/guarantees).
    total = description.rtt + (description.jitter_seconds or 0)
    return _placed(description, name, model, description.rtt / total, horizon)


def _placed(
    description: NetworkDescription, name: str, model: Model, steps: Fraction | int, horizon: int | None
) -> Placed:
    """steps: how many steps of the network an R_m has."""
    notes: list[str] = []
    given: list[str] = []
    jitter = _jitter(description, model, steps, notes)
    scale = Fraction(1) if model.windows else Fraction(steps)
    buffer = _buffer(description, steps)
    if description.bdp is not None:
        packet = description.packet / description.bdp * steps
        if not model.windows and packet >= LARGEST_PACKET:
            least = description.packet / LARGEST_PACKET
            raise InputError(
                f"a packet is {float(packet):.3g} of what the link carries in a step of {name}; expected below 1/5: "
                f"a rate times rtt above {float(least):.0f} bytes"
            )
        given.append(f"alpha == {packet}")
    if not model.windows and description.rtt is not None:
        step = (description.rtt / steps) * 1000
        notes.append(
            f"a step of {name} is R_m + D, {float(step):.4g} ms; queue and delay count bytes in flight as well"
        )
    network = Network(name, buffer, horizon or jitter + 2, jitter, delay="executions")
    counts_flight = not model.windows and description.rtt is not None
    known = units(description.rate, description.rtt, scale)
    return Placed(network, known, tuple(given), tuple(notes), Fraction(steps), counts_flight)


def _model(description: NetworkDescription, by_window: bool, flows: int) -> tuple[str, Model]:
    """The name and the Model of the network."""
    if description.model is None:
        # Where nothing propagates, the round trip itself is jitter.
        role = "WITH_JITTER" if description.jitter_seconds or not by_window else "WITHOUT_JITTER"
        name = definitions.chosen("models", role)
    else:
        name = description.model
    if by_window:
        base, colon, parameters = name.partition(":")
        name = f"{definitions.chosen('models', 'BY_WINDOW').get(base, base)}{colon}{parameters}"
    model = load_definition("models", "MODEL", name, allow_code=True)
    wanted = description.flows or flows
    if wanted > 1 and model.flows == 1 and "flows" in model.parameters:
        parameters = definitions.chosen("models", "SHARED").format(flows=wanted)
        name = f"{name}{',' if ':' in name else ':'}{parameters}"
        model = load_definition("models", "MODEL", name, allow_code=True)
    if model.flows != wanted and (flows > 1 or description.flows):
        found = f"{name} has {model.flows} flow{'s' * (model.flows > 1)}"
        rates = "" if by_window else "; flows that share it send by a window, and this controller sends at a rate"
        raise InputError(f"{found}; expected {wanted}{rates}")
    if by_window and not model.windows:
        names = ", ".join(definitions.chosen("models", "BY_WINDOW"))
        raise InputError(f"{name} is a network of rates, and the controller sends by a window; expected one of {names}")
    return name, model


def _jitter(description: NetworkDescription, model: Model, steps: Fraction | int, notes: list[str]) -> int:
    """D in steps, rounded up."""
    if description.jitter is None:
        return model.default_jitter
    if not model.windows and description.rtt is not None:
        return 1  # R_m + D is a step
    seconds = description.jitter_seconds
    if seconds is not None and description.rtt is not None:
        rounds = seconds / description.rtt
    else:
        rounds = exact(description.jitter.removesuffix("rtt"))
    whole = ceil(rounds * steps)
    if whole != rounds * steps:
        says = (
            f"the jitter of {description.jitter} is rounded up to {Fraction(whole, steps)} rtt, a step of {model.name}"
        )
        notes.append(f"{says}, and the controller is told so: a violation may need all of it")
    return whole


def _buffer(description: NetworkDescription, steps: Fraction | int) -> str:
    """The buffer in C times a step, as a Network takes it."""
    text = description.buffer
    if text in ("infinite", "any"):
        return text
    sign, size = (">=", text[2:].strip()) if text.startswith(">=") else ("", text)
    match = _AMOUNT.fullmatch(size)
    if match and match[2] == "bdp":
        return f"{sign}{exact(match[1]) * steps}"
    bdp = description.bdp or Fraction(1)  # without one, sizes are in bdp
    return f"{sign}{Fraction(quantities.size(size, bdp)) / bdp * steps}"


def units(rate: Fraction | None, rtt: Fraction | None, scale: Fraction = Fraction(1)) -> dict[str, Any]:
    """Return the units of expectations on a path.

    Args:
        rate: C in bytes per second; None: it is unknown.
        rtt: R_m in seconds; None: it is unknown.
        scale: What R_m is in the execution's.
    """
    kind = load_definition("properties", "PROPERTY", definitions.chosen("properties", "EXPECTS"))
    units = {
        name: (dimension, factor * (scale if canonical in ("bdp", "rtt") else 1), canonical)
        for name, (dimension, factor, canonical) in kind.units.items()
    }
    if rtt is not None:
        for name, seconds in quantities.DURATIONS.items():
            units[name] = ("time", seconds / rtt * scale, "rtt")
    if rate is not None and rtt is not None:
        for name, size in quantities.SIZES.items():
            if name:
                units[name] = ("bytes", size / (rate * rtt) * scale, "bdp")
        for name, bytes_per_second in quantities.RATES.items():
            units[name] = ("share", bytes_per_second / rate, "")
    return units


def _require_model(first: str) -> None:
    """Raise InputError for a first part of a network that is neither a model nor a rate."""
    if re.search(r"[<>=]\s", first):
        raise InputError(f"'{shown(first)}' is an expectation; expected a network, such as '{_example(False)}'")
    if ";" in first:
        raise InputError(f"'{shown(first)}' has ';' between its parts; expected ',', as in '{_example(False)}'")
    if first[:1].isdigit():
        match = _OTHER_RATE.fullmatch(first)
        meant = f"did you mean '{match[1]} {match[2].lower()}bit'?" if match else "expected such as '24 mbit'"
        raise InputError(f"the rate is '{shown(first)}'; {meant}")


def _rtt(text: str) -> Fraction:
    """R_m in seconds."""
    match = quantities.QUANTITY.fullmatch(text)
    if not match or match[2] not in quantities.DURATIONS or not exact(match[1]):
        raise InputError(f"the rtt is '{shown(text)}'; expected a time above 0 with its unit, such as '40 ms'")
    return quantities.duration(text)


def _require_jitter(text: str, rtt: Fraction | None) -> None:
    """Raise InputError for what is no jitter. rtt: of the network, if it says one."""
    match = _AMOUNT.fullmatch(text)
    if match and (match[2] == "rtt" or (not match[2] and not exact(match[1]))):
        return
    match = quantities.QUANTITY.fullmatch(text)
    is_time = bool(match and match[2] in quantities.DURATIONS)
    if not is_time or rtt is None:
        found = f"the jitter is '{shown(text)}'{', and the network has no rtt' if is_time else ''}"
        path = ", or ms beside an rtt" if rtt is None else " or '4 ms'"
        raise InputError(f"{found}; expected such as '1 rtt'{path}")


def _require_buffer(text: str, is_path: bool) -> None:
    """Raise InputError for what is no buffer."""
    if text in ("infinite", "any"):
        return
    match = quantities.QUANTITY.fullmatch(text.removeprefix(">=").strip())
    is_size = bool(match and match[2] in ("b", "kb", "mb"))
    if not match or not exact(match[1]) or not (match[2] == "bdp" or (is_size and is_path)):
        found = f"the buffer is '{shown(text)}'"
        found += ", and the network has no rate and rtt" if is_size and not is_path else ""
        sizes = "'1 bdp', '>= 1 bdp' or '100 kb'" if is_path else "'1 bdp' or '>= 1 bdp'"
        raise InputError(f"{found}; expected infinite, any, or a size above 0 such as {sizes}")


def _expected(item: str) -> str:
    """What was expected in place of a part that cannot be read."""
    key, *_ = re.split(r"\W", item.lower(), maxsplit=1)
    near = get_close_matches(key, _KEYS, n=1)
    if not near:
        return f"expected parts such as {', '.join(_KEYS.values())}"
    amount = re.search(r"\d.*|infinite|any", item)
    return f"did you mean '{near[0]} {shown(amount[0].lower())}'?" if amount else f"expected such as '{_KEYS[near[0]]}'"


def _items(text: str) -> list[str]:
    """The parts between commas; `parameter=value` belongs to the model's name."""
    items: list[str] = []
    for part in text.split(","):
        if items and _PARAMETER.fullmatch(part.strip()):
            items[0] += f"{',' if ':' in items[0] else ':'}{part.strip()}"
        else:
            items.append(" ".join(part.split()))
    if not all(items):
        raise InputError(
            f"'{shown(text)}' has an empty part; expected the whole network in quotes: '{_example(False)}'"
        )
    return items


def _example(is_path: bool) -> str:
    return "24 mbit, rtt 40 ms, buffer 1 bdp, jitter 4 ms" if is_path else "ccac, buffer 1 bdp, jitter 1 rtt"


def _whole(text: str, what: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,5}", text):
        raise InputError(f"found '{what} {shown(text)}'; expected a whole number above 0, such as '{_KEYS[what]}'")
    return int(text)
