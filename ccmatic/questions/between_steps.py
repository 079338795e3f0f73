"""Errors about times that are no whole number of a network's steps.

The errors suggest the nearest whole steps, or shorter steps.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import floor
from typing import Any

from ccmatic.base import BetweenSteps, InputError
from ccmatic.questions.networks import NetworkDescription, SolverNetwork

#: The largest number of steps per R_m in a suggestion, because networks with more steps take long to decide.
_MOST = 4


@contextmanager
def between_steps(description: NetworkDescription, placed: SolverNetwork) -> Iterator[None]:
    """Within a `with` block, express errors about a time between two steps in the description's units.

    Args:
        description: The network as the user described it.
        placed: The corresponding network of the solver.
    """
    try:
        yield
    except BetweenSteps as error:
        below = floor(error.rounds / error.step) * error.step
        times = [time for time in (below, below + error.step) if time]
        nearest = " or ".join(_shown(time, description, placed) for time in times)
        asked, step = (_shown(time, description, placed) for time in (error.rounds, error.step))
        error.message = f"{asked} is no whole number of steps of {step}; expected {nearest}"
        if shorter := _shorter(error.rounds, description, placed):
            error.message += f", or a network of shorter steps: --on '{shorter}'"
        raise


def counts_longer(expectation: Any, kind: Any, rtt: Fraction | None, steps: Fraction) -> bool:
    """Return whether an expectation is about the bytes in each R_m, but the network counts them in longer steps.

    Args:
        expectation: The expectation.
        kind: The property that parsed the expectation.
        rtt: R_m in seconds; None if unknown.
        steps: The number of steps per R_m.

    Raises:
        InputError: If this expectation is a lower bound, because a shorter time has fewer bytes.
    """
    if rtt is None or steps >= 1 or not kind.counts_per_round(expectation):
        return False
    if ">" in expectation.comparison.relation:
        written, step = expectation.comparison.as_written, f"{float(rtt / steps * 1000):.4g} ms"
        message = f"'{written}' is about each R_m, and the network counts bytes in each step of {step}, which is longer"
        raise InputError(f"{message}; expected '{written} over every {step}'")
    return True


def _shown(rounds: Fraction, description: NetworkDescription, placed: SolverNetwork) -> str:
    """Return a time as text: in ms if the description is a path, otherwise in round trips."""
    if description.rtt is None:
        return f"{rounds} rtt"
    # In networks without propagation, senders have no window, and a step is R_m + D.
    seconds = rounds * description.rtt / (1 if placed.network.model.windows else placed.steps)
    return f"{float(seconds * 1000):.4g} ms"


def _shorter(rounds: Fraction, description: NetworkDescription, placed: SolverNetwork) -> str | None:
    """Return the description with enough steps per R_m to make `rounds` a whole number of steps, or None."""
    model, steps = placed.network.model, rounds.denominator
    if not model.windows or "R" not in model.parameters or model.round_trip(1) != 1 or steps > _MOST:
        return None
    first, *others = description.text.split(",")
    if description.model is None:
        first = f"{str(placed.network.model_name).partition(':')[0]} {first}"
    return ",".join([first, f" R={steps}", *others])
