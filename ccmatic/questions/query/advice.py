"""Advice on the next question: finer steps if the model cannot distinguish two delays, or simpler questions."""

from collections.abc import Iterator
from math import lcm

from ccmatic import controllers
from ccmatic.questions.query.query import Decides, Query

#: The number of steps per R_m for a controller that compares delays with arbitrary fractions of R_m.
_STEPS = 4


def advice(query: Query, controller: Decides, undecided: bool, late: bool = False) -> tuple[str, ...]:
    """Return sentences that suggest what to ask next.

    Args:
        query: The question.
        controller: The controller in question.
        undecided: Whether the solver timed out on the question.
        late: Whether the question timed out before a solver received it.
    """
    sentences = [_sooner_encoded(query)] if undecided and late else []
    for each in controllers.each_of(controller):
        if isinstance(each, controllers.Stateful):
            sentences += _finer(query, each)
            sentences += _simpler(query, each) if undecided and not late else ()
    return tuple(dict.fromkeys(sentences))


def _sooner_encoded(query: Query) -> str:
    """Return advice by which more of the time remains for the solver."""
    period = query.property.period
    shorter = f"a shorter period than {period}" if period else f"a shorter horizon than {query.horizon}"
    return f"{shorter}, or a longer timeout: the encoding timed out, before a solver got the question"


def _finer(query: Query, controller: controllers.Stateful) -> Iterator[str]:
    """Suggest a model with finer steps: each delay in the controller's comparisons is a whole number of them."""
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
    """Suggest questions that a solver decides faster."""
    if query.horizon > 3:
        yield f"a shorter horizon than {query.horizon}: the time grows by a factor with each step"
    yield "one size of packets, such as alpha == 1/20 * C * R, as a given condition"
    yield "one number instead of an edge: `worst --at`"
    if controller.has_laws():
        yield f"narrower bounds of the law of {controller.name} for one R_m, as those of the controller cubic_20ms"
