"""Delays of bytes sent long ago: a transition system knows only the delays of its last steps.

The system knows a short delay exactly. It knows about a longer delay only that it is longer. So a comparison with such
a delay may have each outcome that it has for some longer delay. The delay of a byte sent before the execution is
unknown, and comparisons with it are false.
"""

from dataclasses import fields, replace
from itertools import product
from typing import Any

from ccmatic.base import InputError
from ccmatic.contracts import FlowView, Observation
from ccmatic.controllers import Stateful
from ccmatic.language import ARITHMETIC, Binary, Extreme, Local, Past, Walker, leaves
from ccmatic.logic import Linear, Truth, boolean, every, linear, no, some
from ccmatic.proving.invariants.forms import Replaced
from ccmatic.worlds.step import Step

#: The largest number of comparisons with delays in an update. The outcomes of all are cases of one condition.
MOST = 6


def measures_delays(controller: Any) -> bool:
    """Return whether a controller's own update reads delays in whole steps."""
    return isinstance(controller, Stateful) and any(
        each.few and each.concerns for name, each in controller.observations.items() if name in controller.parameters
    )


def shortsighted(controller: Stateful, steps: int) -> Stateful:
    """Return a controller that knows delays below a number of steps. It allows every step of the given controller."""
    near = {name: _near(each, steps) for name, each in controller.observations.items() if each.few and each.concerns}
    data = {each.name: getattr(controller, each.name) for each in fields(controller)}
    return _Shortsighted(**{**data, "observations": controller.observations | near})


def _near(observation: Observation, steps: int) -> Observation:
    def read(flow: FlowView, t: int) -> Any:
        pairs = observation.read(flow, t)
        if pairs is None:
            return None
        short = [(condition, number) for condition, number in pairs if number < steps]
        return [*short, (no(some([condition for condition, _ in short])), steps)]

    return replace(observation, read=read, unbounded=lambda flow: steps)


class _NearStep(Step):
    """A step in which long delays have every possible effect.

    Attributes:
        outcomes: An unknown for each comparison with delays, with the conditions under which it may be true or false.
    """

    def __init__(self, controller: Any, view: Any, t: int, program: Any) -> None:
        super().__init__(controller, view, t, program)  # type: ignore[no-untyped-call]
        self.outcomes: dict[Any, tuple[Any, Truth, Truth]] = {}

    def updated(self) -> Truth:
        truth = self.becomes(self.controller.update)
        if len(self.outcomes) > MOST:
            problem = f"`update` compares delays in {len(self.outcomes)} ways"
            raise InputError(f"{problem}; an invariant needs at most {MOST}", self.file)
        cases = []
        for chosen in product((True, False), repeat=len(self.outcomes)):
            possible, values = [], {}
            for (unknown, may_hold, may_fail), holds in zip(self.outcomes.values(), chosen, strict=True):
                possible.append(may_hold if holds else may_fail)
                values[unknown.node] = holds
            cases.append(every(*possible, Replaced(values).condition(truth)))
        return some(cases)

    def visit_Comparison(self, node: Any) -> Any:
        part = next((part for part in self.few_in(node) if part not in self.chosen), None)
        if part is None:
            return (yield from super().visit_Comparison(node))  # type: ignore[no-untyped-call]
        key = node, tuple(self.chosen.items())
        if key not in self.outcomes:
            unknown = boolean(f"delay_test_{self.t}_{len(self.outcomes)}")
            self.outcomes[key] = unknown, False, False  # the walk below may add others
            may_hold, may_fail = [], [self.unknown(part)]
            for condition, number in self.readings(part):
                with self.choosing(part, number):
                    holds = yield node
                longer = number == self.unbounded(part)
                may_hold.append(every(condition, some(holds, longer and self._turns(node, part, True))))
                may_fail.append(every(condition, some(no(holds), longer and self._turns(node, part, False))))
            self.outcomes[key] = unknown, some(may_hold), some(may_fail)
        return self.outcomes[key][0]

    def _turns(self, node: Any, part: Any, holds: bool) -> Truth:
        """Return a condition without which no longer delay makes a comparison true, or false."""
        if node.op in ("==", "!=") or any(other != part for other in self.few_in(node) if other not in self.chosen):
            return True
        left, right = (_Line(self, part).walk(side) for side in (node.left, node.right))
        if left is None or right is None:
            return True
        slope: Linear = left[1] - right[1]
        falls: bool = (node.op in ("<", "<=")) == holds
        return slope < 0 if falls else slope > 0

    def unknown(self, part: Any) -> Truth:
        """Return a condition without which a delay, or each delay of a maximum or minimum, is known."""
        cases = []
        leaf: Any
        for leaf in leaves(part):
            back = self.form(leaf.back).constant if isinstance(leaf, Past) else 0
            concerns = self.controller.observations[leaf.name].concerns(self.view, self.t - int(back))
            cases.append(every(self.observed(leaf)[-1][0], concerns))
        return some(cases)


class _Line(Walker[Any]):
    """Describes a term for long delays as (value, slope).

    If the delay is n steps longer than the shortest long delay, the term is value + slope·n.

    The result is None for a term that is no such line for all n from 0 on.
    """

    def __init__(self, step: _NearStep, part: Any) -> None:
        super().__init__(step.file)
        self._step, self._part = step, part

    def visit_object(self, node: Any) -> Any:
        if node == self._part:
            return linear(self._step.unbounded(node)), linear(1)
        if self._part not in self._step.few_in(node):
            return self._step.form(node), linear(0)
        return (yield from self._within(node))

    visit_Local = visit_Function = visit_object

    def _within(self, node: Any) -> Any:
        match node:
            case Local(_, term):
                return (yield term)
            case Extreme(pick, terms):
                lines = yield from self.results(terms)
                return next((each for each in lines if _leads(each, lines, 1 if pick == "max" else -1)), None)
            case Binary(op, left, right):
                first, second = (yield left), (yield right)
                return None if None in (first, second) else _joined(op, first, second)
        return None


def _leads(line: Any, lines: Any, sign: int) -> bool:
    """Return whether a line is never below the others (for the sign 1), or never above them (for -1)."""
    if None in lines:
        return False
    differences = [sign * (mine - other) for each in lines for mine, other in zip(line, each, strict=True)]
    return all(not each.coefficients and each.constant >= 0 for each in differences)


def _joined(op: str, left: Any, right: Any) -> Any:
    """Return the sum, difference, product or quotient of two lines; None if the result is no line."""
    if op in ("+", "-"):
        return tuple(ARITHMETIC[op](a, b) for a, b in zip(left, right, strict=True))
    factors = (right,) if op == "/" else (right, left)
    for factor in factors:
        (value, slope), (other, rises) = factor, right if factor is left else left
        if slope.coefficients or slope.constant:
            continue
        if not value.coefficients and (value.constant or op == "*"):
            return tuple(ARITHMETIC[op](each, value.constant) for each in (other, rises))
        if op == "*" and not other.coefficients and not rises.coefficients:
            return value * other.constant, value * rises.constant
    return None


class _Shortsighted(Stateful):
    step_type = _NearStep
