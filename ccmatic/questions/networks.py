"""The networks that represent descriptions for a solver."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from ccmatic.base import InputError, counted, definitions, exact, quantities, shown
from ccmatic.contracts import Model, load_definition
from ccmatic.questions.descriptions import AMOUNT, SETTINGS, NetworkDescription, example, with_parameters
from ccmatic.questions.query import Network

#: The upper bound on the packet size in networks of senders at rates, in units of C·step.
LARGEST_PACKET = Fraction(1, 5)


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


def _load(name: str) -> Model:
    model: Model = load_definition("models", "MODEL", name, allow_code=True)
    return model


def named_model(description: NetworkDescription, name: str) -> str:
    """Return the name of a model with the parameters that a description sets.

    The model must have them. If it loses bytes by chance, the description must state how many.
    """
    model = _load(name)
    losing, is_path = definitions.chosen("models", "LOSSY"), description.rate is not None
    text = f"{losing}{' 24 mbit, rtt 40 ms' if is_path else ''}, buffer 1 bdp, loss 1%"
    for key, parameter in SETTINGS.items():
        if parameter in description.settings and parameter not in model.parameters:
            problem = f"'{shown(description.text, 120)}' has a {key}, and {model.name} loses no bytes by chance"
            raise InputError(f"{problem}; expected such as '{text}', or no {key}")
    _, given = definitions.split("models", name)
    if model.loses_by_chance and SETTINGS["loss"] not in {*given, *description.settings}:
        raise InputError(f"'{shown(description.text)}' lacks its loss; expected such as '{text}'")
    settings = ",".join(f"{parameter}={value}" for parameter, value in description.settings.items())
    return with_parameters(name, settings) if settings else name


def place(description: NetworkDescription, by_window: bool, flows: int, horizon: int | None = None) -> SolverNetwork:
    """Return a Network that represents a description for controllers, on its least horizon unless one is given."""
    name, model = _model(description, by_window, flows)
    if not model.windows and description.rtt is not None and not model.default_jitter:
        message = f"{name} has neither jitter nor a propagation delay, so it cannot have an rtt"
        raise InputError(f"{message}; expected such as '{example(True)}', or no rtt")
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
        name = with_parameters(name, parameters)
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
        name = with_parameters(name, "application=pauses")
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
    return with_parameters(name, f"threshold={threshold}")


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
    match = AMOUNT.fullmatch(size)
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
