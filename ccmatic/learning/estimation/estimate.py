"""What a sender can know of its path, step by step: what is possible, beside what it believes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from ccmatic.base import InputError, absolute
from ccmatic.contracts import Buffer, Column, Model, load_definition
from ccmatic.learning.estimation.declared import declared
from ccmatic.learning.estimation.exact import ANY, Possible, possible
from ccmatic.query import Network
from ccmatic.traces import Trace


@dataclass(frozen=True)
class Estimate:
    """What can be known at the end of step t of a trace, in its units: what is possible, a Possible, and what is
    believed, by the names of the model's beliefs; inf where nothing bounds from above yet."""

    t: int
    possible: Possible
    declared: Mapping[str, Fraction | float]


def estimates(trace: Trace, network: Network) -> Iterator[Estimate]:
    """An Estimate of each step of a trace but its first, one after another. A sender is taken to have seen what it
    sends, and what is served and lost (one step late, but on an ideal link), and to know R_m, MSS, the buffer as the
    network has it (in C·R_m), and D; not C. It looks back on as many steps as the network's horizon has, and keeps what
    it knew of C. Raises InputError, at a step, where no execution of the network is as the trace."""
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
    """The Network of a trace, or another where names and numbers, as people write them, say so; horizon: as in
    `estimates`, all steps by default. allow_code: whether the trace may name a model whose code is run. Raises
    InputError."""
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
    """That the trace has what a sender on such a network sees. Raises InputError."""
    model = network.model
    if model.windows:
        raise InputError(f"senders on {model.name} send by a window; expected a model on which they send at rates")
    missing = [name for name in ("A", "S", "L", "Ld", "r", *model.measures) if name not in trace.columns]
    if missing:
        raise InputError(f"the trace has no {', '.join(missing)}, which a sender on {model.name} sees")
    if not network.buffer.finite and any(trace.columns["Ld"]):
        raise InputError("the trace has losses, and the buffer is infinite; expected one that is not")


def _window(model: Model, trace: Trace, start: int, end: int) -> Trace:
    """Steps of a trace, as a trace whose bytes are counted from what was served by its first step, and whose delays are
    those of the whole trace: it tells delays of as many steps as it has from all longer ones."""
    served, columns = trace.columns["S"][start], model.declared()

    def origin(name: str) -> Fraction | int:
        column = columns.get(name)
        return served if isinstance(column, Column) and column.with_service else 0

    kept = {name: tuple(v - origin(name) for v in column[start:end]) for name, column in trace.columns.items()}
    kept |= {name: tuple(min(v, Fraction(trace.horizon)) for v in kept[name]) for name in model.measures}
    return replace(trace, horizon=end - start, columns=kept)
