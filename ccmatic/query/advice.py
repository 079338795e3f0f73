"""What to ask next: of delays that a network's steps do not tell apart, and where there was no answer in time."""

from collections.abc import Iterator
from math import lcm

from ccmatic import controllers
from ccmatic.query.query import Decides, Query

#: Steps in an R_m, of a controller that compares delays with any part of it.
_STEPS = 4


def advice(query: Query, controller: Decides, undecided: bool) -> tuple[str, ...]:
    """Return sentences that say what to ask next.

    Args:
        query: The question.
        controller: Whom it is about.
        undecided: Whether there was no answer in time.
    """
    found: list[str] = []
    for each in controllers.each_of(controller):
        if isinstance(each, controllers.Stateful):
            found += _finer(query, each)
            found += _simpler(query, each) if undecided else ()
    return tuple(dict.fromkeys(found))


def _finer(query: Query, controller: controllers.Stateful) -> Iterator[str]:
    """The model with steps short enough for what a controller compares delays with."""
    parts = controller.delay_parts() or _STEPS
    R = min(query.model.round_trip(number) for number in range(1, query.model.flows + 1))
    if R % parts and (R < _STEPS or controller.delay_parts()) and "R" in query.model.parameters:
        base, _, text = str(query.network.model_name).partition(":")
        others = [each for each in text.split(",") if each and not each.startswith("R=")]
        parts = lcm(parts, R)
        model = f"{base}:{','.join([*others, f'R={parts}'])}"
        step = "R_m" if R == 1 else f"R_m/{R}"
        compares = f"{controller.name} compares delays with parts of R_m, and a step is {step}"
        yield f"--model {model} with a horizon {parts // R} times as long: {compares} (docs/stateful.md)"


def _simpler(query: Query, controller: controllers.Stateful) -> Iterator[str]:
    """What is answered sooner."""
    if query.horizon > 3:
        yield f"a shorter horizon than {query.horizon}: the time grows by a factor with each step"
    yield "one size of packets, such as alpha == 1/20 * C * R, as a given condition"
    yield "one number instead of an edge: `worst --at`"
    if controller.has_laws():
        yield f"narrower bounds of the law of {controller.name} for one R_m, as those of the controller cubic_20ms"
