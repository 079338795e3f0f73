"""The network of a query: a bottleneck with a buffer and jitter, in the notation of users."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ccmatic.base import InputError, absolute, blamed, definitions, exact, quantities, shown, suggest
from ccmatic.contracts import Buffer, Model, load_definition

#: The largest number of steps in a trace.
LONGEST = 1000

#: `published` keeps the laws of the published model that some real executions violate; `executions` drops these laws.
DELAYS = ("published", "executions")


@dataclass(frozen=True, init=False, repr=False)
class Network:
    """A bottleneck with its buffer, and the number of steps of its traces.

    Args:
        model: The name of a folder in models/, or the path of a file that defines a MODEL. The attribute `model` holds
            the Model.
        buffer: The buffer: `infinite`, `any`, a size such as "1/2 bdp", or a least size such as ">=1 bdp". A number
            without a unit is in C·R_m. The attribute `buffer` holds a Buffer.
        horizon: T, the number of points of a trace: at least D + 2 and at most LONGEST. A trace spans T - 1 steps.
        jitter: The largest jitter D, as text such as "1 rtt", or as a number of steps. None stands for the model's
            default D. If the model's name also sets D, the two values must agree.
        delay: The laws of delay: one of DELAYS.
        history: The number of steps before the start of the executions. A window sender makes observations in these
            steps, but may send anything. Questions count from the start on.
        model_name: The model's name or absolute path in records. This argument is necessary only if `model` is a Model
            object.

    Raises:
        InputError: If the values describe no network.

    Examples:
        >>> Network("ccac", buffer="any", horizon=11)
    """

    model: Model
    buffer: Buffer
    horizon: int
    jitter: int
    delay: str
    history: int
    model_name: str

    @blamed()
    def __init__(
        self,
        model: Model | str | Path,
        buffer: Buffer | str | int | Fraction,
        horizon: int | str,
        jitter: int | str | None = None,
        delay: str = "published",
        model_name: str | None = None,
        history: int | str = 0,
    ) -> None:
        if isinstance(model, Model):
            loaded = model
        else:
            model_name, loaded = absolute(model), load_definition("models", "MODEL", model, allow_code=True)
        if model_name is None:
            raise InputError(f"the model is {shown(model)}; expected its name in models/ or the path of its file")
        steps = loaded.round_trip(1) if loaded.windows else 1
        given = loaded.default_jitter if jitter is None else _jitter_in_steps(jitter, steps)
        jitter = _whole_steps("jitter", given, 0, LONGEST - 2)
        if loaded.default_jitter == 0 and jitter:
            raise InputError(f"the jitter is {jitter}; the {loaded.name} link has none, expected 0")
        if jitter != loaded.default_jitter and (setting := _setting_of_jitter(loaded, model_name)):
            raise InputError(f"the jitter is {jitter}, and the model's name says {setting}; expected one of the two")
        if delay not in DELAYS:
            raise InputError(f"delay is '{delay}'; {suggest(delay, DELAYS)}")
        buffer = buffer if isinstance(buffer, Buffer) else Buffer.parse(_buffer_in_steps(buffer, steps))
        loses = loaded.loses_waiting or loaded.loses_by_chance
        if not buffer.finite and (loses or loaded.store != Model.store):
            store = loaded.store
            raise InputError(f"the {store} is {buffer}; the {loaded.name} link drops bytes, expected a finite {store}")
        history = _whole_steps("history", history, 0)
        if history and not loaded.windows:
            raise InputError(f"the history is {history}; a rate sender decides from its beliefs alone, expected 0")
        set_fields(
            self,
            model=loaded,
            buffer=buffer,
            horizon=_whole_steps("horizon", horizon, jitter + 2 + history),
            jitter=jitter,
            delay=delay,
            history=history,
            model_name=model_name,
        )

    @property
    def steps(self) -> int:
        """The number of steps from the start on."""
        return self.horizon - self.history

    def __repr__(self) -> str:
        about = f"{self.model_name!r}, buffer={str(self.buffer)!r}, horizon={self.horizon}, jitter={self.jitter}"
        return f"Network({about}, delay={self.delay!r})"


def _setting_of_jitter(model: Model, name: str) -> str | None:
    """Return the part of a model's name that sets the jitter, such as D=2, or None."""
    _, texts = definitions.split("models", name)
    fields = {parameter: declared.field for parameter, declared in model.parameters.items()}
    return next((f"{key}={text}" for key, text in texts.items() if fields.get(key) == "default_jitter"), None)


def set_fields(made: object, **fields: Any) -> None:
    """Set the fields of a frozen dataclass, within its `__init__`."""
    for name, value in fields.items():
        object.__setattr__(made, name, value)


def _jitter_in_steps(jitter: object, steps: int) -> object:
    """Return the jitter in steps, where `steps` is the number of steps per R_m. Raise InputError for a duration."""
    rounds = quantities.in_unit(jitter, "rtt")
    if rounds is None and any(quantities.in_unit(jitter, unit) is not None for unit in quantities.DURATIONS):
        path = "24 mbit, rtt 40 ms, buffer 1 bdp, jitter 4 ms"
        raise InputError(
            f"the jitter is '{shown(jitter)}', and no path says how long a round trip takes; expected such as "
            f"'1 rtt', or --on '{path}'"
        )
    return jitter if rounds is None else rounds * steps


def _buffer_in_steps(buffer: object, steps: int) -> object:
    """Return the buffer in units of C·step, where `steps` is the number of steps per R_m."""
    text = str(buffer).strip()
    sign, size = (">=", text[2:]) if text.startswith(">=") else ("", text)
    bdps = quantities.in_unit(size, "bdp")
    return buffer if bdps is None else f"{sign}{bdps * steps}"


def _whole_steps(name: str, value: object, least: int, most: int = LONGEST) -> int:
    try:
        number = exact(value)
    except InputError:
        number = Fraction(-1)
    if number.denominator != 1 or not least <= number <= most:
        raise InputError(f"the {name} is {shown(value)}; expected a whole number of steps, {least} to {most}")
    return int(number)
