"""What a solver is told of an update, and what the controller's own Python makes of it, are one thing."""

from fractions import Fraction
from functools import partial
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccmatic.base import CONDITION
from ccmatic.contracts import Flow, load_definition
from ccmatic.contracts.buffer import Buffer
from ccmatic.contracts.execution import Windows
from ccmatic.contracts.steps import Delay, Steps
from ccmatic.language import load, parse
from ccmatic.language.stateful import Program, Step

OBSERVATIONS = load_definition("models", "MODEL", "ccac2021").observations
NAMES = ("aimd", "aimd_each_step", "bbr", "bbr_v1", "copa", "cubic", "illinois", "lp", "rocc", "vegas")
HORIZON = 7
NUMBERS = st.fractions(min_value=0, max_value=3, max_denominator=4)


@st.composite
def flows(draw, controller):
    """What a sender may have seen, and state at each step: any numbers, consistent or not."""
    growing = {}
    for name in ("A", "S", "L", "Ld"):
        steps = draw(
            st.lists(st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1)]), min_size=HORIZON, max_size=HORIZON)
        )
        growing[name] = Steps([sum(steps[: t + 1], Fraction(0)) for t in range(HORIZON)])
    delays = draw(st.lists(st.integers(0, HORIZON), min_size=HORIZON, max_size=HORIZON))
    state = {}
    for memory in controller.state:
        values = st.sampled_from([Fraction(0), Fraction(1)]) if memory.unit == CONDITION else NUMBERS
        state[memory.name] = Steps(draw(st.lists(values, min_size=HORIZON, max_size=HORIZON)))
    numbers = Steps([Fraction(1)] * HORIZON)
    flow = Flow(
        horizon=HORIZON,
        D=1,
        alpha=draw(st.sampled_from([Fraction(1, 4), Fraction(1)])),
        known=True,
        **growing,
        r=numbers,
        cwnd=numbers,
        Q=Delay.measured(delays, HORIZON),
        limited=Steps([False] * HORIZON),
        state=state,
    )
    Windows([flow], Fraction(1), Buffer.parse("infinite"), None, {}, {})
    return flow


OVER_WINDOWS = """window: bytes = above(0)
def update(window, ack_rate, delay, sent, acked, lost, MSS, R_m, step):
    if min_over(delay, 2) < max(delay, delay[step]):
        window = R_m * max_over(ack_rate, 2)
    elif max_over(delay, 3) <= step:
        window = between(MSS, MSS + window)
    else:
        window = bounded(window * window / MSS, MSS, max(MSS, sent - acked - lost))
def send(window):
    return window
"""


@pytest.mark.parametrize("name", [*NAMES, OVER_WINDOWS])
def test_formula_and_python_agree_on_an_update(name):
    read = partial(parse, file="mine.py") if "\n" in name else load
    controller = read(name, observations=OBSERVATIONS)
    names = tuple(memory.name for memory in controller.state)
    program = Program(controller.source, controller.file, names, controller.beliefs)

    @settings(max_examples=15, deadline=None, derandomize=True, database=None)
    @given(flows(controller), st.data())
    def agree(flow, data):
        t = data.draw(st.integers(controller.first_decision(flow), HORIZON - 1))
        step = Step(controller, flow, t, program)
        outcome = program.outcome(step.arguments())
        made = [] if outcome is None else list(product(*outcome.values()))
        for values in made:
            step.now = {name: Fraction(value) for name, value in zip(outcome, values, strict=True)}
            assert step.becomes(controller.update) is True
            changed = names[t % len(names)]
            now = step.now[changed]
            step.now[changed] = 1 - now if changed in step.truths else now + Fraction(1, 7)
            assert step.becomes(controller.update) is step.may_be(changed, outcome[changed])
        step.now = {name: Fraction(5) for name in names}
        assert made or step.becomes(controller.update) is False

    agree()
