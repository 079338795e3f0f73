"""Lasting laws: the laws of short executions that hold in each part of a longer execution.

Other laws hold only because an execution begins at its first step, or read all steps since then. A lasting law is the
same condition, one step later, in an execution that is one step longer. Where the conditions differ, a solver decides
whether the laws of the longer execution imply it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from pysmt.shortcuts import Symbol
from pysmt.typing import BOOL

from ccmatic.base import TIME
from ccmatic.contracts import FlowView, Law, Observation
from ccmatic.controllers import Stateful
from ccmatic.logic import Condition, Linear, Truth, equal, formula, linear, no, real
from ccmatic.logic.solving import UNSAT, Checker
from ccmatic.proving.invariants.delays import measures_delays, shortsighted
from ccmatic.proving.invariants.forms import Replaced, answer, checker_of, unknowns
from ccmatic.questions.query import Query

#: The numbers of further steps of the executions that decide whether a law lasts.
FURTHER = (1, 2)


@dataclass(frozen=True)
class Place:
    """The column and the step of an unknown. The step of a constant is None.

    A measured delay has several unknowns per step. `number` tells them apart.
    """

    column: str
    t: int | None
    number: str = ""

    @staticmethod
    def of(symbol: Any, constants: frozenset[str]) -> "Place":
        """Return the place of an unknown, by its name (`contracts.sources.Unknowns`)."""
        name = symbol.symbol_name()
        first, _, last = name.rpartition("_")
        if name in constants or not last.isdigit():
            return Place(name, None)
        column, _, t = first.rpartition("_")
        if symbol.symbol_type() is BOOL and t.isdigit():
            return Place(column, int(t), last)
        return Place(first, int(last))

    def since(self, constant: int) -> int:
        """Return the step; if the unknown is a constant, return `constant`."""
        return constant if self.t is None else self.t

    @property
    def key(self) -> tuple[str, str]:
        return self.column, self.number

    def symbol(self, kind: Any, later: int = 0) -> Any:
        """Return the unknown of this column that lies `later` steps later."""
        if self.t is None:
            return Symbol(self.column, kind)
        return Symbol("_".join(filter(None, (self.column, str(self.t + later), self.number))), kind)


def as_value(symbol: Any) -> Condition | Linear:
    return Condition(symbol) if symbol.symbol_type() is BOOL else Linear({symbol: Fraction(1)})


def _time(observation: Observation, known: int, flow: FlowView, t: int) -> Any:
    """Return the time since the execution began: numbers at the first `known` steps, and unknowns at later steps."""
    return observation.read(flow, t) if t < known else real(f"{observation.name}_{t}")


def _concerns(observation: Observation, column: str, flow: FlowView, t: int) -> Any:
    """Return the condition that an observation concerns bytes older than the execution, which a column counts."""
    assert observation.concerns
    return observation.concerns(flow, t, real(f"{column}_{t}"))


class Window:
    """An execution of a controller on a query's network, with its laws and with consequences of its laws.

    Attributes:
        query: The query, whose horizon is that of the execution.
        x: The execution.
        laws: The laws. The last ones are consequences of the others.

    Args:
        known: The number of first steps at which the controller knows the time.
        history: The number of steps before the start; see Network.
    """

    def __init__(self, query: Query, controller: Any, horizon: int, known: int, history: int = 0) -> None:
        self._known = known
        self.query, self.controller = query.on(horizon=horizon, history=history), controller
        self.x = self.query.execution(state=controller.state)
        self.constants = frozenset({*self.x.constants, "alpha", "beta"})

    @cached_property
    def laws(self) -> list[Law]:
        """All laws, without the assumptions that real executions may break.

        Laws of measured delays are left out if the controller reads no delay.
        """
        model, x = self.query.model, self.x
        read = model.closure(set(self.controller.parameters) & {belief.name for belief in model.beliefs})
        laws = [*model.laws(x), *model.belief_laws(x, read)]
        for flow in x.flows:
            laws += [Law(self.controller.name, *law) for law in self._dateless.laws(flow)]
            laws += [Law(model.name, *law) for law in (*self._passed(flow), *self._older(flow))]
        for belief in model.beliefs:
            if belief.name in read:
                laws += [Law(model.name, *law) for law in belief.consequences(x)]
        same = Replaced({})
        laws = [Law(law.model, law.name, law.t, same.condition(law.formula)) for law in laws]
        open_ones = [law for law in laws if not isinstance(law.formula, bool)]
        most = self._delays_known if self._reads_delay(open_ones) else 0
        return [law for law in open_ones if most is None or not self._delays(law, most)]

    def unseen(self) -> Any:
        """Return the Name of an observation that the controller may read at the last step, but cannot know; or None.

        The execution is too short for such an observation.
        """
        flow = self.x.flows[0]
        return self.controller.unseen(flow, flow.horizon - 1) if isinstance(self.controller, Stateful) else None

    @property
    def _delays_known(self) -> int | None:
        """The largest number of steps that a controller with state distinguishes from longer delays; else None."""
        return max(self._known - self.x.R, 1) if measures_delays(self.controller) else None

    @cached_property
    def _dateless(self) -> Any:
        """The controller, with unknowns in place of all values that show how long ago the execution began.

        A part of an execution does not show the time since then, nor which bytes are older. The first steps of an
        execution show both.
        """
        read = {each.name: replace(each, read=partial(_time, each, self._known)) for each in self._times}
        for each, column in self._dated_bytes:
            concerns = partial(_concerns, each, column)
            read[each.name] = replace(each, concerns=concerns, read=concerns if each.dated else each.read)
        controller = self.controller
        if read:
            controller = replace(controller, observations=controller.observations | read)
        steps = self._delays_known
        return controller if steps is None else shortsighted(controller, steps)

    @cached_property
    def _dated_bytes(self) -> list[tuple[Observation, str]]:
        """The observations that may concern bytes older than the execution, with the columns that count these bytes."""
        observations = getattr(self.controller, "observations", {})
        read = [each for name, each in observations.items() if each.first and name in self.controller.parameters]
        columns: dict[Any, str] = {}
        return [(each, columns.setdefault(self._first(each).node(), f"older{len(columns) or ''}")) for each in read]

    def _first(self, observation: Observation) -> Linear:
        assert observation.first
        return linear(observation.first(self.x.flows[0]))

    @property
    def older(self) -> dict[str, Linear]:
        """The number of bytes that are older than the execution, by the column that stands for this number."""
        return {column: self._first(each) for each, column in self._dated_bytes}

    def _older(self, flow: FlowView) -> Iterator[tuple[str, int, Truth]]:
        """Yield the laws that the number of bytes older than the execution is constant."""
        for column, number in self.older.items():
            yield f"{column}_is_constant", 0, equal(real(f"{column}_0"), number)
            for t in range(1, flow.horizon):
                yield f"{column}_is_constant", t, equal(real(f"{column}_{t}"), real(f"{column}_{t - 1}"))

    @cached_property
    def _times(self) -> list[Observation]:
        """The times since the execution began that the controller reads."""
        observations = getattr(self.controller, "observations", {})
        read = (observations[name] for name in self.controller.parameters if name in observations)
        return [each for each in read if each.dated and each.unit == TIME]

    def _passed(self, flow: FlowView) -> Iterator[tuple[str, int, Truth]]:
        """Yield the laws that the time since the execution began is at least the time since its first step."""
        for each in self._times:
            for t in range(self._known, flow.horizon):
                yield f"{each.name}_has_passed", t, _time(each, self._known, flow, t) >= each.read(flow, t)

    def _delays(self, law: Law, most: int) -> bool:
        """Return whether a law is about a delay of more than `most` steps."""
        return any(int(Place.of(each, self.constants).number or 0) > most for each in unknowns([law.formula]))

    def _reads_delay(self, laws: Sequence[Law]) -> bool:
        """Return whether a decision of the controller, or one of its beliefs, depends on a measured delay."""
        beliefs = {belief.name for belief in self.query.model.beliefs}
        return any(
            self._delays(law, 0) and (law.model == self.controller.name or law.name.rpartition("_")[0] in beliefs)
            for law in laws
        ) or bool(beliefs & set(self.controller.parameters))

    def later(self, conditions: Sequence[Truth], steps: int) -> dict[Any, Any]:
        """Return values that turn conditions of a part of the execution into those of the part `steps` later.

        The values before the first step are unknowns that occur in no law.
        """
        values = {}
        for symbol in unknowns(conditions):
            place = Place.of(symbol, self.constants)
            if place.t is not None:
                values[symbol] = as_value(place.symbol(symbol.symbol_type(), steps))
        for name, after in self.clocks.items():
            values[Symbol(name, self._real)] = linear(self.x.constants[name]) + after * steps
        return values

    @cached_property
    def clocks(self) -> Mapping[str, Linear]:
        """The amounts by which constants grow if a part begins one step later."""
        after = self.query.model.constants_from(self.x, 1) if self.x.windows else {}
        growth = {name: linear(number) - self.x.constants[name] for name, number in after.items()}
        return {name: amount for name, amount in growth.items() if amount.coefficients or amount.constant}

    @property
    def _real(self) -> Any:
        return linear(self.x.alpha).node().symbol_type()

    @cached_property
    def checker(self) -> Checker:
        return checker_of([law.formula for law in self.laws])

    def implies(self, truth: Truth, steps: int) -> bool:
        """Return whether the laws imply a condition of a part that begins `steps` later than the execution."""
        return answer(self.checker, no(Replaced(self.later([truth], steps)).condition(truth))) == UNSAT

    def nodes(self, earlier: int = 0) -> set[tuple[int, Any]]:
        """Return the laws as pairs of a step and a formula, as if the execution began some steps earlier."""
        if not earlier:
            return {(law.t, formula(law.formula)) for law in self.laws}
        moved = Replaced(self.later([law.formula for law in self.laws], -earlier))
        truths = ((law.t - earlier, moved.condition(law.formula)) for law in self.laws)
        return {(t, truth.node) for t, truth in truths if not isinstance(truth, bool)}
