"""The steps of a question: those of its executions, before their start and from there on, and times between steps."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

from ccmatic import controllers
from ccmatic.base import BYTES, BetweenSteps, InputError, counted, shown
from ccmatic.questions.descriptions import NetworkDescription
from ccmatic.questions.networks import SolverNetwork
from ccmatic.questions.query import Decides, Network, Query

#: The length of executions, in R_m, if the expectation has no interval and bounds no queue.
ROUNDS = 4

#: The counters that senders observe, and their columns in texts.
_COUNTERS = {"acked": "acked", "lost": "Ld", "marked": "marked"}

#: The largest number of steps before the start that a search for the first decision tries.
_MOST = 128

#: The longest default, in R_m.
LONGEST = 16


def least_of_period(network: Network, period: int) -> int:
    """Return the least horizon that shows a period twice, and that also includes the earlier steps that laws read."""
    return max(2 * period + 1, period + network.model.before_period(network.jitter) + 1)


def with_history(query: Query, controller: Decides) -> Network:
    """Return a query's network with as many steps before the start as the controllers need to decide from the start on.

    A controller decides as soon as it has observed all its inputs. The state at the start is then the state from which
    its first decision comes.
    """
    network = query.network
    if not network.model.windows:
        return network
    R = max(network.model.round_trip(number) for number in range(1, network.model.flows + 1))
    back = 2 * R
    while True:
        longer = query.on(horizon=network.horizon + back)
        first = controllers.first_decision(controller, longer.execution(state=controller.state).flows)
        if first is not None or back >= _MOST:
            break
        back *= 2
    # Without a decision, the controller's laws report what it never observes.
    decides = back if first is None else first
    # A sender sends by the acknowledgements of the bytes of R_m before, and counters at the start are those of then.
    history = max(decides - 1, R if counters_at_first(controller) else R - 1)
    return replace(network, horizon=network.horizon + history, history=history)


def counters_at_first(controller: Decides) -> list[str]:
    """Return conditions on the counters at the start, for controllers whose declared first state contains bytes.

    A declaration such as `counted: bytes = 0` is about a sender without acknowledged bytes. The counters of a trace
    begin anywhere, so its sender would otherwise begin in a state that no sender reaches.
    """
    names = set()
    for each in controllers.each_of(controller):
        if any(memory.kind == "equal" and memory.unit == BYTES for memory in each.state):
            names |= _COUNTERS.keys() & set(each.parameters)
    return [f"ALLT(0, N, lambda n: {_COUNTERS[name]}_f[n][0] == 0)" for name in sorted(names)]


def without_history(query: Query, controller: Decides) -> Query:
    """Return a query without the steps before the start, and without the conditions of `counters_at_first`.

    The result is about more executions: until the first decision, its senders have any state and any counters.
    """
    if not query.network.history:
        return query
    about: Any = query.property
    dropped = counters_at_first(controller)
    given = "; ".join(text for text in map(str.strip, about.given.split(";")) if text not in dropped)
    return replace(query, property=replace(about, given=given)).on(horizon=query.network.steps, history=0)


def long_enough(network: Network, needed: int, depth: Fraction, horizon: int | None, period: int | None) -> Network:
    """Return the network with as many steps as the question needs, or with the number of steps that the user gives.

    The default covers an R_m for each BDP that has to fill (`depth`, in C·R_m), and ROUNDS more, but at most LONGEST: a
    sender that adds a BDP per R_m then breaks the expectation.
    """
    if period is not None:
        needed = max(needed, least_of_period(network, period))
    least = max(needed, network.jitter + 2, network.model.least_horizon)
    if horizon is not None and horizon < least:
        raise InputError(f"the horizon is {shown(horizon)}; the question needs at least {counted(least, 'step')}")
    rounds = min(ROUNDS + ceil(depth), LONGEST)
    usual = least if period is not None else max(least, rounds * network.model.round_trip(1) + 1)
    return replace(network, horizon=horizon or usual)


@contextmanager
def usual_horizon(network: Network, period: int | None) -> Iterator[None]:
    """Within this block, add to errors about the horizon that the horizon is the default."""
    try:
        yield
    except InputError as error:
        if "horizon" in error.message:
            is_of_rounds = network.steps == network.model.round_trip(1) * ROUNDS + 1
            usual = f"{ROUNDS} R_m" if is_of_rounds else "what is expected"
            why = usual if period is None else f"a period of {period}"
            error.message += f"; no --horizon was given: the default is {network.steps}, for {why}"
        raise


@contextmanager
def usual_start(start: str) -> Iterator[None]:
    """Within this block, add to errors about the start that the start is the default."""
    try:
        yield
    except InputError as error:
        if f"the start '{start}'" in error.message:
            error.message += f"; no --from was given: the default is {start}, expected such as --from start"
        raise


#: The largest number of steps per R_m in a suggestion, because networks with more steps take long to decide.
_FINEST = 4


@contextmanager
def between_steps(description: NetworkDescription, placed: SolverNetwork) -> Iterator[None]:
    """Within this block, errors about a time between two steps are in the units of the user, and suggest times."""
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

    If it is a lower bound, raise InputError, because a shorter time has fewer bytes.
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
    if not model.windows or "R" not in model.parameters or model.round_trip(1) != 1 or steps > _FINEST:
        return None
    first, *others = description.text.split(",")
    if description.model is None:
        first = f"{str(placed.network.model_name).partition(':')[0]} {first}"
    return ",".join([first, f" R={steps}", *others])
