"""Descriptions of networks as text: `ccac, buffer 1 bdp, jitter 1 rtt` or `24 mbit, rtt 40 ms, buffer 1 bdp`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from math import ceil
from typing import Any

from ccmatic.base import InputError, counted, definitions, exact, quantities, shown
from ccmatic.contracts import Model, load_definition
from ccmatic.questions import changes
from ccmatic.questions.query import Network

#: The number of bytes in a packet, unless a description states it.
PACKET = 1500

#: The upper bound on the packet size in networks of senders at rates, in units of C·step.
LARGEST_PACKET = Fraction(1, 5)

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
    **changes.KEYS,
    "loss": "loss 1%",
    "burst": "burst 1 packet",
}
_STORES = ("buffer", "bucket")
_PACKETS = ("packet", "packets")

#: The parameters of models that items of a description set.
_SETTINGS = {"loss": "loss_rate", "burst": "loss_burst"}
_NO_COMMA = re.compile(rf"\s+(?=(?:{'|'.join(_KEYS)})\s+(?:[>\d]|infinite|any))", re.ASCII)
_PARAMETER = re.compile(r"\w+=\S+", re.ASCII)
_RATE = re.compile(r"(?:([^\s\d]\S*) )?([\d./]+\s*[kmg]?bit)", re.ASCII)
_OTHER_RATE = re.compile(r"([\d./]+)\s*([kmg]?)(?:bps|bits?(?:/s|ps)?)", re.ASCII | re.IGNORECASE)
_AMOUNT = re.compile(r"(\d{1,30}(?:\.\d{1,30}|/\d{1,30})?)\s*(bdp|rtt)?", re.ASCII)


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
    change: changes.Change | None = None
    aggregates: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def jitter_seconds(self) -> Fraction | None:
        """The jitter D in seconds; None without jitter, or in round trips of unknown length."""
        if self.jitter is None:
            return None
        match = _AMOUNT.fullmatch(self.jitter)
        if match and (match[2] == "rtt" or not exact(match[1])):
            return exact(match[1]) * self.rtt if self.rtt is not None else None
        return quantities.duration(self.jitter)

    @property
    def bdp(self) -> Fraction | None:
        """The bandwidth-delay product C·R_m in bytes, or None if the text does not determine it."""
        return None if self.rate is None or self.rtt is None else self.rate * self.rtt


@dataclass(frozen=True)
class SolverNetwork:
    """A Network that represents a description for the solver.

    Args:
        network: The Network.
        units: The units for expectations on this Network, in the form in which a property states its own units.
        given: Conditions that the description adds, in the language of the clause `avoids`.
        notes: Sentences about quantities that the Network rounds, or that it counts in another way than the path.
        steps: The number of the Network's steps per R_m.
        counts_flight: Whether the Network's queue also counts bytes in flight. The path's queue does not.
    """

    network: Network
    units: Mapping[str, Any]
    given: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    steps: Fraction = Fraction(1)
    counts_flight: bool = False


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
        raise InputError(f"'{shown(text)}' lacks its {' and '.join(missing)}; expected such as '{_example(is_path)}'")
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
        change=changes.read_change(values, rtt),
        aggregates="aggregation" in values,
        settings={_SETTINGS[key]: _setting(key, values[key]) for key in _SETTINGS if key in values},
    )


def _load(name: str) -> Model:
    model: Model = load_definition("models", "MODEL", name, allow_code=True)
    return model


def _with(name: str, parameters: str) -> str:
    """Return a model's name with further parameters."""
    return f"{name}{',' if ':' in name else ':'}{parameters}"


def named_model(description: NetworkDescription, name: str) -> str:
    """Return the name of a model with the parameters that a description sets.

    The model must have them. If it loses bytes by chance, the description must state how many.
    """
    model = _load(name)
    losing, is_path = definitions.chosen("models", "LOSSY"), description.rate is not None
    text = f"{losing}{' 24 mbit, rtt 40 ms' if is_path else ''}, buffer 1 bdp, loss 1%"
    for key, parameter in _SETTINGS.items():
        if parameter in description.settings and parameter not in model.parameters:
            problem = f"'{shown(description.text, 120)}' has a {key}, and {model.name} loses no bytes by chance"
            raise InputError(f"{problem}; expected such as '{text}', or no {key}")
    _, given = definitions.split("models", name)
    if model.loses_by_chance and _SETTINGS["loss"] not in {*given, *description.settings}:
        raise InputError(f"'{shown(description.text)}' lacks its loss; expected such as '{text}'")
    settings = ",".join(f"{parameter}={value}" for parameter, value in description.settings.items())
    return _with(name, settings) if settings else name


def place(description: NetworkDescription, by_window: bool, flows: int, horizon: int | None = None) -> SolverNetwork:
    """Return a Network that represents a description for controllers, on its least horizon unless one is given."""
    name, model = _model(description, by_window, flows)
    if not model.windows and description.rtt is not None and not model.default_jitter:
        message = f"{name} has neither jitter nor a propagation delay, so it cannot have an rtt"
        raise InputError(f"{message}; expected such as '{_example(True)}', or no rtt")
    if model.windows:
        return _placed(description, name, model, model.round_trip(1), horizon)
    if description.rtt is None:
        return _placed(description, name, model, 1, horizon)
    # In networks without propagation, the round trip is part of the jitter, and a step is R_m + D (proving/guarantees).
    total = description.rtt + (description.jitter_seconds or 0)
    return _placed(description, name, model, description.rtt / total, horizon)


def _placed(
    description: NetworkDescription, name: str, model: Model, steps: Fraction | int, horizon: int | None
) -> SolverNetwork:
    notes: list[str] = []
    given: list[str] = []
    jitter = _jitter(description, model, steps, notes)
    scale = Fraction(1) if model.windows else Fraction(steps)
    buffer = _size(description.buffer, description, steps)
    _require_room(description, steps, buffer, model)
    name = _marking(description, name, model, steps, buffer)
    if description.bdp is not None:
        packet = description.packet / description.bdp * steps
        if not model.windows and packet >= LARGEST_PACKET:
            least = description.packet / LARGEST_PACKET
            raise InputError(
                f"a packet is {float(packet):.3g} of the bytes that the link carries per step of {name}; expected "
                f"below 1/5: a rate times rtt above {float(least):.0f} bytes"
            )
        given.append(f"alpha == {packet}")
    if not model.windows and description.rtt is not None:
        step = (description.rtt / steps) * 1000
        notes.append(
            f"a step of {name} is R_m + D, {float(step):.4g} ms; queue and delay count bytes in flight as well"
        )
    if description.change and description.change.outage:
        notes.append("the retransmission timer never fires while bytes wait; a real one may, in a long outage")
    if description.aggregates:
        notes.append("aggregation counts as jitter: a violation may need acknowledgements that are always late")
    network = Network(name, buffer, horizon or jitter + 2, jitter, delay="executions")
    counts_flight = not model.windows and description.rtt is not None
    expectation_units = units(description.rate, description.rtt, scale)
    return SolverNetwork(network, expectation_units, tuple(given), tuple(notes), Fraction(steps), counts_flight)


def _model(description: NetworkDescription, by_window: bool, flows: int) -> tuple[str, Model]:
    """Return the name and the Model of the network that the solver uses."""
    if description.model is None:
        # Without propagation, the round trip itself is jitter.
        role = "WITH_JITTER" if description.jitter_seconds or not by_window else "WITHOUT_JITTER"
        name = definitions.chosen("models", role)
    else:
        name = description.model
    if by_window:
        base, colon, parameters = name.partition(":")
        name = f"{definitions.chosen('models', 'BY_WINDOW').get(base, base)}{colon}{parameters}"
    name = named_model(description, name)
    model = _load(name)
    wanted = description.flows or flows
    if wanted > 1 and model.flows == 1 and "flows" in model.parameters:
        parameters = definitions.chosen("models", "SHARED").format(flows=wanted)
        name = _with(name, parameters)
        model = _load(name)
    if description.change:
        name = _changing(name, description, by_window, wanted)
        model = _load(name)
    if description.pauses:
        if "application" not in model.parameters:
            names = definitions.chosen("models", "BY_WINDOW")
            known = ", ".join(each for each in names if "application" in _load(each).parameters)
            others = f"one of {known}, or a network without 'application pauses'"
            raise InputError(f"{name} has no application that pauses; expected {others}")
        name = _with(name, "application=pauses")
        model = _load(name)
    if model.flows != wanted and (flows > 1 or description.flows):
        problem = f"{name} has {counted(model.flows, 'flow')}"
        rates = "" if by_window else "; flows that share it send by a window, and this controller sends at a rate"
        raise InputError(f"{problem}; expected {wanted}{rates}")
    require_store(description, model)
    if by_window and not model.windows:
        names = ", ".join(definitions.chosen("models", "BY_WINDOW"))
        raise InputError(f"{name} is a network of rates, and the controller sends by a window; expected one of {names}")
    return name, model


def _changing(name: str, description: NetworkDescription, by_window: bool, flows: int) -> str:
    """Return the name of the changing network that corresponds to a network without changes."""
    base, _, parameters = name.partition(":")
    known = definitions.chosen("models", "CHANGING")
    if not by_window:
        problem = "the path changes, and the controller sends at a rate: a change makes beliefs about the path false"
        raise InputError(f"{problem}; expected a controller that sends by a window, such as aimd")
    if base not in known or flows > 1:
        of = f"{flows} flows" if flows > 1 else base
        names = ", ".join(rate for rate, window in definitions.chosen("models", "BY_WINDOW").items() if window in known)
        raise InputError(f"there is no network of {of} whose path changes; expected one flow on one of {names}")
    changing, _, fixed = known[base].partition(":")
    assert description.change
    return f"{changing}:{','.join(filter(None, (fixed, parameters, description.change.parameters())))}"


def _jitter(description: NetworkDescription, model: Model, steps: Fraction | int, notes: list[str]) -> int:
    """Return the jitter D in steps, rounded up."""
    if description.jitter is None:
        return 0 if model.windows and description.rate is not None else model.default_jitter
    if not model.windows and description.rtt is not None:
        return 1  # A step is R_m + D.
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
        notes.append(f"{says}, and the controller's D includes this: a violation may need all of it")
    return whole


def _marking(description: NetworkDescription, name: str, model: Model, steps: Fraction | int, buffer: str) -> str:
    """Return the name of the network with its threshold, which must be below the buffer, in units of C·step."""
    require_threshold(description, model)
    if description.threshold is None:
        return name
    threshold = _size(description.threshold, description, steps)
    if re.fullmatch(r"[\d/]+", buffer) and exact(threshold) >= exact(buffer):
        problem = f"the threshold of {description.threshold} is not below the buffer of {description.buffer}"
        half = exact(buffer) / steps / 2
        raise InputError(f"{problem}, so that no packet is marked; expected such as 'threshold {half} bdp'")
    return _with(name, f"threshold={threshold}")


def require_threshold(description: NetworkDescription, model: Model) -> None:
    """Raise InputError if a description has a threshold but its model has no marks, or the reverse."""
    text, example = shown(description.text), definitions.chosen("models", "MARKED")
    if model.threshold is None and description.threshold is not None:
        problem = f"'{text}' has a threshold, and {model.name} marks no packets"
        raise InputError(f"{problem}; expected no threshold, or such as '{example}'")
    if model.threshold is not None and description.threshold is None and "threshold=" not in (description.model or ""):
        raise InputError(f"'{text}' lacks its threshold; expected such as '{example}'")


def _size(text: str, description: NetworkDescription, steps: Fraction | int) -> str:
    """Return a buffer or a threshold in units of C·step, as text for the constructor of Network."""
    if text in ("infinite", "any"):
        return text
    sign, size = (">=", text[2:].strip()) if text.startswith(">=") else ("", text)
    match = _AMOUNT.fullmatch(size)
    if match and match[2] == "bdp":
        return f"{sign}{exact(match[1]) * steps}"
    bdp = description.bdp or Fraction(1)  # Without a bandwidth-delay product, the size is already in bdp.
    return f"{sign}{quantities.size(size, bdp) / bdp * steps}"


def require_store(description: NetworkDescription, model: Model) -> None:
    """Raise InputError if a description has a buffer but the model has a bucket, or the reverse."""
    if description.store != model.store:
        problem = f"'{shown(description.text)}' has a {description.store}, and {model.name} has a {model.store}"
        raise InputError(f"{problem}; expected such as '{model.store} {description.buffer}'")


def _require_room(description: NetworkDescription, steps: Fraction | int, buffer: str, model: Model) -> None:
    """Raise InputError if not even one packet of a path fits into the bucket; `buffer` comes from `_buffer`."""
    size = buffer.removeprefix(">=")
    if description.bdp is not None and model.policer and model.policer[0] * description.bdp < description.packet:
        raise InputError(
            f"a bucket of {float(model.policer[0] * description.bdp):.6g} bytes for packets of {description.packet}; "
            f"expected at least 'bucket={Fraction(description.packet) / description.bdp}', in C·R_m"
        )
    if description.bdp is None or description.store == "buffer" or size in ("infinite", "any"):
        return
    amount, packet = exact(size) / steps * description.bdp, description.packet
    if amount < packet or (amount == packet and not model.windows):
        least = packet if model.windows else packet + 1
        raise InputError(
            f"a {description.store} of {float(amount):.6g} bytes for packets of {packet}; "
            f"expected at least '{description.store} {least} b'"
        )


def expectations() -> Any:
    """Return the property that parses expectations and judges them."""
    return load_definition("properties", "PROPERTY", definitions.chosen("properties", "EXPECTS"))


def units(rate: Fraction | None, rtt: Fraction | None, scale: Fraction = Fraction(1)) -> dict[str, Any]:
    """Return the units for expectations on a path of this rate (bytes/s) and R_m (s), which may be unknown.

    `scale` is R_m in the execution's unit of time.
    """
    units = {
        name: (dimension, factor * (scale if canonical in ("bdp", "rtt") else 1), canonical)
        for name, (dimension, factor, canonical) in expectations().units.items()
    }
    if rtt is not None:
        for name, seconds in quantities.DURATIONS.items():
            units[name] = ("time", seconds / rtt * scale, "rtt")
    if rate and rtt is not None:  # a link may begin with an outage
        for name, size in quantities.SIZES.items():
            if name:
                units[name] = ("bytes", size / (rate * rtt) * scale, "bdp")
        for name, bytes_per_second in quantities.RATES.items():
            units[name] = ("share", bytes_per_second / rate, "")
    return units


def _require_model(first: str) -> None:
    if re.search(r"[<>=]\s", first):
        raise InputError(f"'{shown(first)}' is an expectation; expected a network, such as '{_example(False)}'")
    if ";" in first:
        raise InputError(f"'{shown(first)}' has ';' between its parts; expected ',', as in '{_example(False)}'")
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
    match = [_AMOUNT.fullmatch(text) for text in times]
    if all(match):
        return f"{sum(exact(each[1]) for each in match if each)} rtt"
    assert rtt is not None
    seconds = (
        exact(each[1]) * rtt if each else quantities.duration(text) for each, text in zip(match, times, strict=True)
    )
    return f"{sum(seconds) * 1000} ms"


def _require_jitter(what: str, text: str, rtt: Fraction | None) -> None:
    match = _AMOUNT.fullmatch(text)
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
            items[0] = _with(items[0], part.strip())
        else:
            items.append(" ".join(part.split()))
    if not all(items):
        raise InputError(
            f"'{shown(text)}' has an empty part; expected the whole network in quotes: '{_example(False)}'"
        )
    if any(_NO_COMMA.search(item) for item in items if not item.startswith("change ")):
        meant = ", ".join(_NO_COMMA.sub(", ", item) for item in items)
        raise InputError(f"'{shown(text)}' lacks a comma between parts; did you mean '{shown(meant, 120)}'?")
    return items


def _example(is_path: bool) -> str:
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
