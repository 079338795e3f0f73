"""The knowledge that a sender can have about its path at each step: the possible values, and the sender's beliefs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from ccmatic.answers.estimation.declared import declared
from ccmatic.answers.estimation.exact import ANY, PossibleValues, possible
from ccmatic.base import InputError, absolute
from ccmatic.contracts import Buffer, Column, Model, load_definition
from ccmatic.networks.traces import Trace
from ccmatic.questions.query import Network


@dataclass(frozen=True)
class Estimate:
    """The knowledge of a sender at the end of a step, in the units of the trace.

    Attributes:
        t: The number of the step.
        possible: The PossibleValues.
        declared: The values of the model's beliefs by name. The value inf means that the sender has no upper bound yet.
    """

    t: int
    possible: PossibleValues
    declared: Mapping[str, Fraction | float]


def estimates(trace: Trace, network: Network) -> Iterator[Estimate]:
    """Yield an Estimate of each step of a trace except the first.

    A sender observes the bytes that it sends, and the bytes served and lost. The sender observes losses one step late,
    except on an ideal link. The sender knows R_m, MSS, D, and the buffer of the network (in C·R_m), but not C. The
    sender remembers its observations of the latest steps; the network's horizon is the number of these steps. The
    sender remembers all its knowledge of C.

    Args:
        trace: The trace.
        network: The Network.

    Raises:
        InputError: If no execution of the network explains the trace up to a step; the message names the step. The
            function also raises this error if the trace lacks observations.
    """
    _require(trace, network)
    beliefs, C = declared(network.model, network.jitter, trace), ANY
    for t in range(1, trace.horizon):
        window = _window(network.model, trace, max(0, t + 1 - network.horizon), t + 1)
        try:
            bounds = possible(network, window, C)
        except InputError as error:
            raise InputError(f"by the end of step {t}: {error.message}") from None
        C = bounds.C
        yield Estimate(t, bounds, {name: column[t] for name, column in beliefs.items()})


def network_of(
    trace: Trace,
    model: str | Path | None = None,
    buffer: Buffer | str | int | Fraction | None = None,
    jitter: int | str | None = None,
    horizon: int | str | None = None,
    allow_code: bool = False,
) -> Network:
    """Return the Network of a trace, with the given parts replaced.

    Args:
        trace: The trace.
        model: The name or path of another model.
        buffer: Another buffer, as text in the notation of users.
        jitter: Another jitter in steps.
        horizon: The number of remembered steps, as in `estimates`. The default is all steps.
        allow_code: Whether the trace may name a model in a file, whose code then runs.

    Raises:
        InputError: If there is no such model, or a value cannot be read.
    """
    query = trace.query
    if model is None:
        loaded, name = load_definition("models", "MODEL", query["model"], allow_code), query["model"]
    else:
        loaded, name = load_definition("models", "MODEL", model, True), absolute(model)
    return Network(
        loaded,
        query["buffer"] if buffer is None else buffer,
        trace.horizon if horizon is None else horizon,
        query["jitter"] if jitter is None else jitter,
        "executions",
        name,
    )


def _require(trace: Trace, network: Network) -> None:
    """Raise InputError unless the trace has the observations of a sender on this network."""
    model = network.model
    if model.windows:
        raise InputError(
            f"senders on {network.model_name} send by a window; expected a model on which they send at rates"
        )
    missing = [name for name in ("A", "S", "L", "Ld", "r", *model.measures) if name not in trace.columns]
    if missing:
        raise InputError(f"the trace has no {', '.join(missing)}, which a sender on {network.model_name} sees")
    if not network.buffer.finite and any(trace.columns["Ld"]):
        raise InputError("the trace has losses, but the buffer is infinite; expected a finite one")


def _window(model: Model, trace: Trace, start: int, end: int) -> Trace:
    """Return a window of a trace as a trace of its own.

    The window's byte counts are relative to the bytes served by its first step. Its delays may be as long as the whole
    trace.
    """
    served, columns = trace.columns["S"][start], model.declared()

    def origin(name: str) -> Fraction | int:
        column = columns.get(name)
        return served if isinstance(column, Column) and column.with_service else 0

    kept = {name: tuple(v - origin(name) for v in column[start:end]) for name, column in trace.columns.items()}
    kept |= {name: tuple(min(v, Fraction(trace.horizon)) for v in kept[name]) for name in model.measures}
    return replace(trace, horizon=end - start, columns=kept)
