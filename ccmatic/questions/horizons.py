"""The horizon of a question: the number of steps of its executions, if the user gives none."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ccmatic.base import InputError, shown
from ccmatic.query import Network

#: The length of executions, in R_m, if the expectation has no interval.
ROUNDS = 4


def least_of_period(network: Network, period: int) -> int:
    """Return the least horizon that shows a period twice, and that also includes the earlier steps that laws read."""
    model = network.model
    back = max(model.looks_back, network.jitter, model.round_trip(1))
    return max(2 * period + 1, period + back + 1)


def long_enough(network: Network, needed: int, horizon: int | None, period: int | None) -> Network:
    """Return the network with as many steps as the question needs, or with the number of steps that the user gives.

    Args:
        network: The network.
        needed: The number of steps that the expectation needs.
        horizon: The number of steps that the user gives, or None.
        period: The period of the executions in steps, or None if they are not periodic.

    Raises:
        InputError: If the question needs more steps than the user gives.
    """
    if period is not None:
        needed = max(needed, least_of_period(network, period))
    least = max(needed, network.jitter + 2, network.model.least_horizon)
    if horizon is not None and horizon < least:
        raise InputError(f"the horizon is {shown(horizon)}; the question needs at least {least} steps")
    usual = least if period is not None else max(least, ROUNDS * network.model.round_trip(1) + 1)
    return replace(network, horizon=horizon or usual)


@contextmanager
def usual_horizon(network: Network, period: int | None) -> Iterator[None]:
    """Within this block, add to errors about the horizon that the horizon is the default.

    Args:
        network: The network with the default horizon.
        period: The period of the executions in steps, or None if they are not periodic.
    """
    try:
        yield
    except InputError as error:
        if "horizon" in error.message:
            is_of_rounds = network.horizon == network.model.round_trip(1) * ROUNDS + 1
            usual = f"{ROUNDS} R_m" if is_of_rounds else "what is expected"
            why = usual if period is None else f"a period of {period}"
            error.message += f"; no --horizon was given: the default is {network.horizon}, for {why}"
        raise
