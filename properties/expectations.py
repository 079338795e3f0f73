"""Expectations of users about a controller, such as `utilisation >= 80% over every 10 rtt`, on one execution.

An expectation becomes a condition for solvers, or the worst value of its quantity in an execution of numbers.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import ceil, inf

from ccmatic.properties import misread
from ccmatic.properties.comparisons import CONVERGED, Comparison, amount_text, parse, parse_conditions
from ccmatic.properties.expressions import Expressions
from ccmatic.properties.quantities import Quantity as WorstQuantity
from ccmatic.properties.subjects import (
    BYTES,
    CONDITIONS,
    IN_BYTES,
    LARGEST,
    NUMBER,
    OF_UNIT,
    QUANTITIES,
    SHARE,
    TIME,
    UNITS,
    Quantity,
)

from ccmatic.base import BetweenSteps, InputError, counted, definitions
from ccmatic.contracts import AllOf, Compared, Implied, SenderBelief, Stated
from ccmatic.logic import every, no, some

__all__ = ["QUANTITIES", "UNITS", "Reader", "WorstValue", "parse", "parse_conditions"]

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_WORSE = {"<": "at least", "<=": "above", ">": "at most", ">=": "below"}


@dataclass(frozen=True)
class WorstValue:
    """The worst value of an expectation's quantity in an execution of known numbers.

    Attributes:
        value: The worst value, in the unit of the expectation's amount. It is infinite if the whole is 0. For `no
            timeout`, the value is 1 if the timer fires, else 0.
        begin: The first step of the interval; for a quantity at one step, that step.
        end: The last step of the interval; for a quantity at one step, that step.
        flow: The number of the flow, from 0; None if the value concerns all flows.
        at_least: Whether `value` is only a lower bound, because the execution may be too short to show the true value.
    """

    value: Fraction | float
    begin: int
    end: int
    flow: int | None
    at_least: bool = False


def _number(expectation, quantity, value):
    """Return a value with its unit, and enough digits to show on which side of the amount the value lies."""
    unit, factor = expectation.written
    if not unit and quantity.whole is None:
        unit = "rtt" if quantity.dimension == TIME else "bdp"  # the amount is 0, as in `no queue`
    elif not unit and quantity.unit:
        unit, factor = "%", Fraction(1, 100)
    unit = "packets" if unit == "packet" else unit
    for digits in range(4, 13):
        text = f"{float(value / factor):.{digits}g}"
        if value == inf or expectation.met(Fraction(text) * factor) == expectation.met(value):
            return f"{text} {unit}".strip()
    return f"{value / factor} {unit}".strip()


class Reader:
    """Reads expectations as conditions on one execution, whose values are unknowns of a solver or numbers.

    Within this class, steps count from the start of the execution. Results name steps of the trace, which begins with
    the steps before the start.

    Args:
        model: The network's Model.
        x: The execution, as a NetworkView.
        period: The period of the execution in steps; None if the execution need not repeat.
    """

    def __init__(self, model, x, period=None):
        self._model, self._x, self._period = model, x, period
        self._start, self._horizon = x.history, x.horizon - x.history
        self._expressions = Expressions(x, model, Fraction(0))

    def reason(self, expectation):
        """Return the Reason that an expectation is met: its condition with an explanation.

        Raises:
            InputError: If the network lacks the quantity.
        """
        if expectation.within is not None:
            expected = f"`prove`, or '{replace(expectation, within=None)}'"
            raise InputError(f"an invariant alone decides '{expectation}'; expected {expected}")
        if expectation.by is not None:
            steps = self._until(expectation)
            what = " and ".join(map(str, expectation.comparisons))
            when = f"{what} at a step from {self._start} to {self._start + steps[-1]}"
            return Stated(when, some([self._holds_all(expectation, t) for t in steps]))
        quantity, scale = self._quantity(expectation.comparison)
        self._require_offers(expectation, quantity)
        parts = []
        for flow in self._flows(quantity, expectation):
            for begin, end in self._places(expectation, quantity):
                part = self._compared(expectation.comparison, quantity, scale, flow, begin, end)
                condition = every(self._during(expectation, flow, begin, end), self._counts(expectation, begin, end))
                parts.append(part if condition is True else Implied(Stated("the condition holds", condition), part))
        return AllOf(tuple(parts))

    def _until(self, expectation):
        """Return the steps at which the conditions of an expectation with `by` should hold for the first time."""
        if self._period:
            raise InputError(f"'{expectation}' is about the first steps, and executions repeat; expected no period")
        last, needed = self._steps(expectation.by), self.needed(expectation)
        if needed > self._horizon:
            raise _too_short(expectation, needed - 1, self._horizon)
        return range(last + 1)

    def _holds_all(self, expectation, t):
        """Return the condition that all conditions of an expectation with `by` hold at a step, for every flow."""
        if expectation.comparison.subject == CONVERGED:
            part = Expressions(self._x, self._model, Fraction(0), t)
            return every([part.condition(text) for text in expectation.reached.texts(self._model)])
        flows = range(len(self._x.flows))
        return every([self._holds(each, flow, t) for each in expectation.comparisons for flow in flows])

    def condition(self, text):
        """Parse a condition in the language of `avoids`.

        Raises:
            InputError: If the text is no condition.
        """
        return self._expressions.condition(text)

    def premise(self, expectation):
        """Return the condition that the expectation applies somewhere: all of its own conditions hold there."""
        if not expectation.conditions:
            return True
        quantity, _ = self._quantity(expectation.comparison)
        flows, places = self._flows(quantity, expectation), self._places(expectation, quantity)
        return some([self._during(expectation, flow, *place) for flow in flows for place in places])

    def at_first(self, comparisons):
        """Return the condition that each flow satisfies the comparisons at the first step."""
        return every([self._holds(each, flow, 0) for each in comparisons for flow in range(len(self._x.flows))])

    def worst(self, expectation):
        """Return the WorstValue in an execution of numbers; None if the expectation applies nowhere in it."""
        if expectation.by is not None:
            return self._first(expectation)
        quantity, scale = self._quantity(expectation.comparison)
        choose = max if expectation.comparison.relation in ("<", "<=") else min
        values = []
        for flow in self._flows(quantity, expectation):
            breaks = list(accumulate(self._breaks(expectation, flow), initial=0))
            for begin, end in self._places(expectation, quantity):
                last = end if quantity.intervals else begin
                if breaks[begin] == breaks[(begin if quantity.follows else last) + 1]:
                    valued = self._valued(expectation.comparison, quantity, scale, flow, begin, last)
                    values += valued if self._counts(expectation, begin, last) else _nothing(valued)
        return choose(values, key=lambda each: each.value, default=None)

    def _first(self, expectation):
        """Return the time until the conditions of an expectation with `by` hold for the first time."""
        steps = self._until(expectation)
        first = next((t for t in steps if self._holds_all(expectation, t) is True), len(steps))
        rounds, end = Fraction(first, self._x.R), min(first, steps[-1])
        return WorstValue(rounds, self._start, self._start + end, None, at_least=first == len(steps))

    def _counts(self, expectation, begin, end):
        """Return the condition that an interval counts."""
        quantity = QUANTITIES.get(expectation.comparison.subject)
        if quantity is None or quantity.only is None:
            return True
        return self._expressions.condition(self._only(expectation, a=str(begin), b=str(end)))

    def _only(self, expectation, **names):
        return _named(QUANTITIES[expectation.comparison.subject].only, to=f"{expectation.to}", **names)

    def _breaks(self, expectation, flow):
        """Return, for each step of an execution of numbers, whether a condition is broken at that step."""
        if not expectation.conditions:
            return [False] * self._horizon
        return [self._during(expectation, flow, t, t) is not True for t in range(self._horizon)]

    def _valued(self, comparison, quantity, scale, flow, begin, end):
        """Return a list with the WorstValue of one interval or step.

        If both the value and its whole are 0, the list is empty.
        """
        first, last = self._start + begin, self._start + end
        if comparison.subject == "delay":
            served = bisect_left(self._x.S, self._x.A[first] - self._x.L[first], first)
            rounds = Fraction(served - first, self._x.R)
            return [WorstValue(rounds, first, first, None, at_least=served == self._x.horizon)]
        value, whole = (self._term(text, flow, begin, end) for text in (quantity.value, scale))
        if not whole:
            return [WorstValue(inf, first, last, flow)] if value else []
        return [WorstValue(Fraction(value) / whole, first, last, flow)]

    def measured(self, expectation, clock=None):
        """Return the worst value in words, such as `78.12 % from 0 to 4 R_m`; "" if the execution has no worst value.

        Args:
            expectation: The expectation.
            clock: A pair: a unit, and a function from steps to time in that unit. If None, times are in R_m from the
                first step.
        """
        worst = self.worst(expectation)
        return "" if worst is None else self.says(expectation, worst, clock)

    def says(self, expectation, worst, clock=None):
        """Return a WorstValue in words. `measured` explains the argument `clock`."""
        unit, time = clock or ("R_m", lambda t: Fraction(t, self._x.R))
        begin, end = (f"{float(time(t)):.4g}" for t in (worst.begin, worst.end))
        where = f"from {begin} to {end} {unit}" if worst.end > worst.begin else f"at {begin} {unit}"
        of = f" of flow {worst.flow + 1}" if worst.flow is not None and len(self._x.flows) > 1 else ""
        if expectation.comparison.subject in CONDITIONS:
            return f"a {expectation.comparison.subject}{of} {where}" if worst.value else ""
        number = _number(expectation, self._quantity(expectation.comparison)[0], worst.value)
        return f"{'at least ' if worst.at_least else ''}{number}{of} {where}"

    def require(self, comparison):
        """Require that a comparison's quantity supports amounts in the unit of the text.

        Raises:
            InputError: If the quantity does not support the unit.
        """
        self._quantity(comparison)

    def needed(self, expectation):
        """Return the smallest horizon, in steps, at which an execution shows the expectation."""
        if expectation.by is not None:
            for each in expectation.comparisons if expectation.comparison.subject != CONVERGED else ():
                self._holds(each, 0, 0)
            # A start of window senders restricts the windows of the first R_m.
            return self._steps(expectation.by) + 1 + self._x.R * self._model.windows
        quantity, _ = self._quantity(expectation.comparison)
        self._require_offers(expectation, quantity)
        if expectation.comparison.subject == "delay":
            return 2 * self._steps(expectation.comparison.amount) + 1
        steps = self._length(expectation, quantity)
        if quantity.only:  # an interval as late as the amount, and one more, after the change
            return self._model.least_horizon + ceil(expectation.comparison.amount * self._x.R) + steps
        return 2 if steps is None else steps + 1

    def _require_offers(self, expectation, quantity):
        """Raise InputError if the application alone can break an expectation by pausing."""
        excluded = any(str(each) == "no app_limited" for each in expectation.conditions)
        if self._model.pauses and quantity.of_offers and ">" in expectation.comparison.relation and not excluded:
            never = Comparison("app_limited", "<=", Fraction(0), "")
            others = [each for each in expectation.conditions if each.subject != "app_limited"]
            expected = replace(expectation, conditions=(*others, never))
            raise InputError(f"'{expectation}' is broken by an application that pauses; expected '{expected}'")

    def _quantity(self, comparison):
        """Return the Quantity and the text that multiplies the amount.

        Raise InputError if quantity and amount do not fit.
        """
        name, unit = comparison.subject, comparison.unit
        quantity = QUANTITIES.get(name) or self._own(name)
        if len(self._x.flows) < quantity.flows:
            raise InputError(
                f"'{comparison}' is about several flows; expected such as '{comparison} beside cubic', or 'flows 2' in "
                "the network"
            )
        if quantity.windows and not self._model.windows:
            raise InputError(
                f"'{comparison}' is about controllers that send by a window, and this one sends at a rate; expected "
                f"such as '{misread.EXAMPLES['rate']}' or '{misread.EXAMPLES['queue']}'"
            )
        if quantity.marks and self._model.threshold is None:
            example = definitions.chosen("models", "MARKED")
            raise InputError(f"'{comparison}' is about marks, which this network has not; expected such as '{example}'")
        if name in CONDITIONS:
            return quantity, "1"
        if comparison.relation not in quantity.relations:
            raise InputError(f"'{comparison}' cannot be expressed; expected '{name} <= {comparison.amount} rtt'")
        if name == "recovery" and self._model.since is None:
            problem = f"'{comparison}' is about a path that changes, and this path does not"
            raise InputError(f"{problem}; expected a network such as 'ccac, buffer 1 bdp, outage 2 rtt'")
        if unit in IN_BYTES and quantity.dimension == BYTES:
            return quantity, IN_BYTES[unit]
        if unit == "rtt" and name == "queue":
            return quantity, "C * R"  # the bytes that the link serves in R_m
        if unit == "rtt" and quantity.dimension == TIME:
            return quantity, "R"
        is_rate = comparison.written[0].endswith("bit") and quantity.whole in (None, "1")
        if not unit and not is_rate and (quantity.whole or not comparison.amount):
            return quantity, quantity.whole or ("R" if quantity.dimension == TIME else IN_BYTES["bdp"])
        number = comparison.amount / comparison.written[1]
        expected = {
            BYTES: f"bdp, packets or kb{', or %' * bool(quantity.whole)}",
            TIME: "rtt or ms",
            SHARE: "% or mbit",
            NUMBER: f"a number without a unit, such as '{name} {comparison.relation} {number}'",
        }.get(quantity.dimension, "a number, or %")
        example = f", such as '{misread.EXAMPLES[name]}'" if name in misread.EXAMPLES else ""
        problem = f"{name} has no amounts such as that of '{comparison.as_written}'"
        raise InputError(f"{problem}; expected {expected}{example}")

    def _own(self, name):
        """Return the Quantity of a controller's own state or belief."""
        flow = self._x.flows[0]
        declared = {column.name: str(column.unit) for column in (*self._model.beliefs, *flow.kept)}
        units = {own: declared[own] for own in (*flow.beliefs, *flow.state) if own in declared}
        observed = self._model.observations.get(name)
        if name not in units and isinstance(observed, SenderBelief):
            raise misread.unread(name)
        if name not in units:
            raise misread.quantity(name, QUANTITIES, units)
        if units[name] not in OF_UNIT:
            raise InputError(f"{name} is in {units[name]}, which has no amounts; expected another name")
        dimension, whole = OF_UNIT[units[name]]
        return Quantity(f"{name}_f[n][t]", whole, name, dimension=dimension, per_flow=True)

    def _flows(self, quantity, expectation):
        if not quantity.per_flow:
            return (None,)
        return (0,) if expectation.beside else range(len(self._x.flows))

    def _places(self, expectation, quantity):
        """Return (first step, last step) of each interval, or step, at which the quantity is compared."""
        end = self._horizon
        if expectation.comparison.subject == "delay":
            later = self._steps(expectation.comparison.amount)
            if later >= end:
                raise _too_short(expectation, later, end)
            return [(t, t + later) for t in range(end - later)]
        steps = self._length(expectation, quantity)
        if steps is None:
            first = max(self._begin, self._undecided(quantity))
            return [(self._begin, end - 1)] if quantity.intervals else [(t, t) for t in range(first, end)]
        if steps >= end:
            raise _too_short(expectation, steps, end)
        return [(t, t + steps) for t in range(end - steps)]

    @property
    def _begin(self):
        """The first step of the interval that lasts until the end of the execution.

        If the execution repeats, this interval is one period.
        """
        return self._horizon - 1 - self._period if self._period else 0

    def _undecided(self, quantity):
        """Return the number of steps whose values no controller has decided: a rate sender begins at any rate."""
        return int(quantity is QUANTITIES["rate"] and not self._model.windows)

    @property
    def _half(self):
        """The longest delay, in steps, for which a worst case is searched: half of the execution."""
        return Fraction((self._horizon - 1) // 2)

    def _length(self, expectation, quantity):
        """Return the length of an interval in steps; None for the whole execution, or for a single step."""
        if not quantity.intervals:
            if expectation.interval is not None:
                raise InputError(
                    f"'{expectation}' has an interval, and {expectation.comparison.subject} is about every step; "
                    f"expected '{expectation.comparison}'"
                )
            return None
        if expectation.interval is not None:
            return self._steps(expectation.interval)
        # Lost bytes, and utilisation after a change, are counted per R_m unless the text names another interval.
        return self._x.R if expectation.comparison.unit else None

    def _steps(self, rounds):
        steps = rounds * self._x.R
        if steps.denominator != 1:
            raise BetweenSteps(rounds, Fraction(1, self._x.R))
        return int(steps)

    def _during(self, expectation, flow, begin, end):
        """Return the condition that all conditions of the expectation hold at each step of an interval.

        The conditions concern the given flow, or every flow if no flow is given. A condition on a delay concerns the
        step that sends the bytes. A condition on a burst concerns the step before that step.
        """
        quantity = QUANTITIES.get(expectation.comparison.subject)
        steps = range(begin, begin + 1 if quantity and quantity.follows else end + 1)
        flows = range(len(self._x.flows)) if flow is None else [flow]
        return every([self._holds(each, n, t) for each in expectation.conditions for n in flows for t in steps])

    def _holds(self, comparison, flow, t):
        quantity, scale = self._quantity(comparison)
        if quantity.intervals or comparison.subject == "delay":
            raise InputError(
                f"'{comparison}' is no condition at a step; expected a condition on queue, window, rate or a name of "
                "the controller"
            )
        return self._compared(comparison, quantity, scale, flow, t, t).condition

    def _compared(self, comparison, quantity, scale, flow, begin, end):
        value, step = self._term(quantity.value, flow, begin, end), self._start + end
        whose = "" if flow is None or len(self._x.flows) == 1 else f" of flow {flow + 1}"
        if comparison.subject in CONDITIONS:
            return Stated(f"{comparison}{whose} at t = {step}", no(value) if comparison.relation == "<=" else value)
        says = f"{quantity.says}{whose}"
        if comparison.subject == "delay":
            served = self._expressions.at("S[t]", t=end)
            before = f"{counted(end - begin, 'step')} before"
            return Compared(f"{says} {before}", value, "<=", served, "bytes", quantity.of, step=step)
        threshold = comparison.amount * self._term(scale, flow, begin, end)
        over = f" in {counted(end - begin, 'step')}" if end > begin else ""
        of = f"{amount_text(comparison.amount, comparison.unit)} {quantity.of}".strip() if quantity.unit else ""
        compared = Compared(f"{says}{over}", value, comparison.relation, threshold, quantity.unit, of, step=step)
        if not _may_be_of_nothing(comparison, quantity):
            return compared
        something = value + self._term(scale, flow, begin, end) > 0
        if something is True:
            return compared
        return Implied(Stated(f"there is something {quantity.of}", something), compared)

    def _term(self, text, flow, begin, end):
        return self._expressions.at(text, n=flow, a=begin, b=end, t=begin)

    def edge(self, expectation):
        """Return the Quantity for the search of a worst value: the expectation with `x` instead of its amount.

        Raises:
            InputError: If the expectation has no amount.
        """
        if expectation.by is not None:
            raise InputError(f"no worst value of '{expectation}' is searched; expected `verify` or `prove`")
        comparison, quantity = expectation.comparison, QUANTITIES.get(expectation.comparison.subject)
        if quantity:
            self._require_offers(expectation, quantity)
        if comparison.subject in CONDITIONS:
            raise InputError(f"'{expectation}' is about no amount; expected such as 'utilisation >= 80%'")
        if comparison.subject == "delay":
            unit = "steps to be served, of bytes sent"
            return WorstQuantity(self.avoided(expectation, "x"), "above", unit, high=self._half, step=Fraction(1))
        if quantity and quantity.only:
            steps = self._horizon - self._model.least_horizon - self._length(expectation, quantity)
            if steps < 0:
                raise _too_short(expectation, self.needed(expectation) - 1, self._horizon)
            high, step = Fraction(steps, self._x.R), Fraction(1, 10)
            return WorstQuantity(self.avoided(expectation, "x"), "above", comparison.unit, high=high, step=step)
        of = comparison.unit or (quantity.of if quantity else "")
        high = max(LARGEST[comparison.unit], comparison.amount)
        return WorstQuantity(self.avoided(expectation, "x"), _WORSE[comparison.relation], of, high=high)

    def given(self, comparisons):
        """Return, in the language of `avoids`, that each flow satisfies the comparisons at the first step."""
        texts = (self._at_step(each, "n") for each in comparisons)
        return [f"ALLT(0, N, lambda n: {_named(text, t='0')})" for text in texts]

    def _at_step(self, comparison, flow):
        quantity, scale = self._quantity(comparison)
        if comparison.subject in CONDITIONS:
            text = quantity.value if comparison.relation == ">=" else f"Not({quantity.value})"
            return _named(text, n=flow)
        return _named(f"{quantity.value} {comparison.relation} {comparison.amount} * ({scale})", n=flow)

    def avoided(self, expectation, amount=None):
        """Return the condition that the expectation forbids, in the language of `avoids`, for experts.

        Args:
            expectation: The expectation.
            amount: If given, this amount replaces the expectation's own amount.
        """
        comparison = expectation.comparison
        amount = comparison.amount if amount is None else amount
        quantity, scale = self._quantity(comparison)
        steps = self._length(expectation, quantity)
        if comparison.subject == "delay":
            steps = self._steps(amount) if amount == comparison.amount else amount
            text = f"{quantity.value} > S[t+{steps}]"
        elif comparison.subject in CONDITIONS:
            text = quantity.value
        else:
            text = f"{quantity.value} {_OPPOSITE[comparison.relation]} {amount} * ({scale})"
            if _may_be_of_nothing(comparison, quantity):
                text = f"And({text}, {quantity.value} + {scale} > 0)"
        if quantity.only:
            text = f"And({self._only(expectation)}, {text})"
        conditions = self._conditions_of_step(expectation, quantity, steps)
        return self._somewhere(expectation, f"And({conditions}, {text})" if conditions else text, steps)

    def applies(self, expectation):
        """Return `premise` in the language of `avoids`. For a delay, the result is about all steps."""
        quantity, _ = self._quantity(expectation.comparison)
        steps = self._length(expectation, quantity)
        return self._somewhere(expectation, f"And({self._conditions_of_step(expectation, quantity, steps)})", steps)

    def _somewhere(self, expectation, text, steps):
        """Return that a condition holds at some step, or in some interval of this many steps, for some flow."""
        quantity, _ = self._quantity(expectation.comparison)
        if steps is None and quantity.intervals:
            text = _named(text, a=f"(T-1-{self._period})" if self._period else "0", b="T-1")
        elif quantity.intervals:
            text = f"ANYT(0, T-{steps}, lambda a: {_named(text, b=f'a+{steps}')})"
        else:
            first = self._undecided(quantity)
            text = f"ANYT({first}, {f'T-{steps}' if steps else 'T'}, lambda t: {text})"
        if quantity.per_flow:
            text = (
                _named(text, n="0")
                if expectation.beside or len(self._x.flows) == 1
                else f"ANYT(0, N, lambda n: {text})"
            )
        return text

    def _conditions_of_step(self, expectation, quantity, steps):
        """Return, in the language of `avoids`, the conditions of an expectation at each step of an interval."""
        texts, end = [], "T-1" if steps is None else f"a+{steps}"
        for each in expectation.conditions:
            of_every = len(self._x.flows) > 1 and not quantity.per_flow
            text = self._at_step(each, "n" if quantity.per_flow or of_every else "0")
            text = f"ALLT(0, N, lambda n: {text})" if of_every else text
            during = _named(text, t="a") if quantity.follows else f"ALLT(a, {end}+1, lambda t: {text})"
            texts.append(during if quantity.intervals else text)
        return ", ".join(texts)


def _too_short(expectation, steps, horizon):
    """Return the error for an execution that is too short to show an expectation."""
    return InputError(
        f"'{expectation}' is about {counted(steps, 'step')}, and the execution has {horizon - 1}; expected a longer one"
    )


def _nothing(valued):
    """Return values of intervals that do not count: 0."""
    return [replace(each, value=Fraction(0)) for each in valued]


def _may_be_of_nothing(comparison, quantity):
    """Return whether the comparison is false if the whole is 0 bytes. A share of 0 bytes meets only `<=` and `>=`."""
    return comparison.relation in ("<", ">") and quantity.intervals and not comparison.unit


def _named(text, **names):
    """Return a text in which other names or numbers replace some of the names."""
    for name, value in names.items():
        text = re.sub(rf"\b{name}\b", value, text)
    return text
