"""Transition systems: one step of a network and its controller, in values that stay bounded as time passes.

The system comes from the lasting laws of short executions. A state is the part of the last steps that the laws of the
next step read. Counts of bytes are relative to each other, because no law can tell where a count began.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from pysmt.shortcuts import Symbol
from pysmt.typing import BOOL, REAL

from ccmatic.base import BYTES, CONDITION, InputError, counted
from ccmatic.contracts import Execution, Law
from ccmatic.controllers import each_of
from ccmatic.logic import Condition, Linear, Truth, formula, linear
from ccmatic.logic.solving import UNSAT
from ccmatic.proving.invariants.delays import measures_delays
from ccmatic.proving.invariants.forms import Replaced, answer, comparisons, unknowns
from ccmatic.proving.invariants.lasting import FURTHER, Place, Window, as_value
from ccmatic.questions.query import Query

#: The columns that are preferred as origins of counts.
_ORIGINS = ("S", "L")

#: The columns that follow from the state, or from the step alone. The state leaves them out.
_FOLLOWING = ("cwnd", "r")

#: The number of steps beyond the jitter whose delays a controller with state distinguishes.
_DELAYS = 2

#: The largest number of further steps that a derivation tries to read.
_MORE = 4


@dataclass(frozen=True, eq=False)
class TransitionSystem:
    """States, the initial states, and a relation between a state and the next states.

    All conditions are about an execution `x`. The relation is about the last step of `x`, and the state describes the
    steps before.

    Attributes:
        state: The unknowns of the state, as pySMT symbols.
        first: Conditions on an initial state, with unknowns of the steps before it.
        at_first: The value of each unknown of the state in an initial state.
        current: Conditions that each state of an execution satisfies. They have further unknowns of the state's step.
        step: Conditions on a state and its next state, with further unknowns of the step.
        after: The value of each unknown of the state after the step.
        shifts: The amounts by which columns may grow without a change of any condition of `step`, by their origins.
        lasting: The conditions of `step`, before an origin of counts is chosen.
        left_out: The names of the laws that the system leaves out, because they do not last.
        costly: The names of the laws for which the state needs the most additional unknowns. A system without such a
            law allows more executions, and may have a simpler invariant.
        without: The names of the laws that the caller left out.
    """

    x: Execution
    state: tuple[Any, ...]
    first: tuple[Truth, ...]
    at_first: Mapping[Any, Any]
    current: tuple[Truth, ...]
    step: tuple[Truth, ...]
    after: Mapping[Any, Any]
    origins: Mapping[Any, Any]
    shifts: Mapping[str, Mapping[str, Any]]
    lasting: tuple[Truth, ...] = ()
    left_out: tuple[str, ...] = ()
    costly: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def now(self) -> int:
        """The step of `x` that the state describes."""
        return self.x.horizon - 2

    def relative(self, value: Any) -> Any:
        """Return a term or a condition about `x` in the values of the system, whose origins are 0."""
        if isinstance(value, bool):
            return value
        for row in _rows([value <= 0 if isinstance(value, Linear) else value], self._constants):
            for origin, amounts in self.shifts.items():
                if sum(number * amounts.get(column, 0) for column, number in row.items()):
                    raise InputError(f"the laws do not say how {', '.join(sorted(row))} relate to {origin}")
        return Replaced(self.origins).value(value)

    @property
    def _constants(self) -> frozenset[str]:
        return frozenset({*self.x.constants, "alpha", "beta"})

    def describe(self, symbol: Any) -> str:
        """Return the name of an unknown of the state, for people: the column, and how many steps before."""
        place = Place.of(symbol, self._constants)
        if place.t is None:
            return place.column
        back = f"[-{self.now - place.t}]" if place.t < self.now else ""
        return f"{place.column}{back}" + (f" >= {place.number}" if place.number else "")


def derive(query: Query, controller: Any, without: Collection[str] = ()) -> TransitionSystem:
    """Derive the transition system of a controller on a query's network.

    The executions begin as the query's property states. All conditions are terms of the current environment.
    """
    return _derivation(query, controller).system(without)


def variants(query: Query, controller: Any) -> Iterator[TransitionSystem]:
    """Yield the system that `derive` derives, and then systems that leave out one of its costly laws."""
    derivation = _derivation(query, controller)
    system = derivation.system(())
    yield system
    for name in system.costly:
        yield derivation.system((name,))


def _derivation(query: Query, controller: Any) -> "_Derivation":
    """Return the derivation of a system with bounded values, as `derive` explains it."""
    if query.model.since:
        raise InputError(f"the path of {query.model.name} changes once, so it has no transition system")
    _require_names(controller)
    least = max(query.jitter + (_DELAYS if measures_delays(controller) else 1), 2)
    unbounded, line = "", None
    for memory in range(least, least + _MORE + 1):
        window = Window(query, controller, memory + 1, memory)
        unseen = window.unseen()
        if unseen:
            unbounded, line = (
                f"`{unseen.name}` of more than {counted(memory - 1, 'step')} ago",
                getattr(unseen, "line", None),
            )
            continue
        derivation = _Derivation(window)
        line = None
        if derivation.decides():
            counts = derivation.absolute()
            if counts:
                unbounded, line = ", ".join(f"`{each}`" for each in counts), controller.line_of(counts[0])
                break
            return derivation
        unbounded = derivation.unbounded()
    raise InputError(
        f"{controller.name} decides by {unbounded}, which is not bounded relative to the network; "
        "expected differences of counts, such as acked - acked[step], or a state that `update` resets",
        getattr(controller, "file", None),
        line,
    )


def _require_names(controller: Any) -> None:
    """Require that no condition has the name of a part of a measured delay, which `Place.of` would take it for."""
    for memory in (memory for each in each_of(controller) for memory in each.state):
        if memory.unit == CONDITION and re.search(r"_\d+$", memory.name):
            problem = f"the condition `{memory.name}` ends in '_' and a number, as the parts of a measured delay do"
            raise InputError(f"{problem}; expected another name", getattr(controller, "file", None), memory.line)


class _Derivation:
    """The derivation of a system whose next step is the last step of an execution."""

    def __init__(self, window: Window) -> None:
        self.query, self.controller, self.window = window.query, window.controller, window
        self.end = memory = window.x.horizon - 1
        longer = [Window(self.query, self.controller, memory + 1 + more, memory) for more in FURTHER]
        self._longer = list(zip(longer, FURTHER, strict=True))
        self._same = [window.nodes() for window in longer]
        self._moved = [window.nodes(earlier=1) for window in longer]

    def _is_constant(self, truth: Truth) -> bool:
        return all(Place.of(each, self.window.constants).t is None for each in unknowns([truth]))

    @cached_property
    def early(self) -> list[Law]:
        """The laws that longer executions have at the same step."""
        return [law for law in self.window.laws if all((law.t, formula(law.formula)) in each for each in self._same)]

    @cached_property
    def lasting(self) -> list[Law]:
        """The laws of the last step that hold one step later, too, and the laws of constants."""
        early = {(law.t, formula(law.formula)) for law in self.early}
        kept = [law for law in self.early if self._is_constant(law.formula)]
        for law in self.window.laws:
            if law.t != self.end or self._is_constant(law.formula):
                continue
            key = law.t, formula(law.formula)
            if (key in early and all(key in each for each in self._moved)) or self._is_implied(law.formula):
                kept.append(law)
        return kept

    def _is_implied(self, truth: Truth) -> bool:
        return all(window.implies(truth, steps) for window, most in self._longer for steps in range(most + 1))

    @cached_property
    def left_out(self) -> list[Law]:
        kept = {formula(law.formula) for law in self.lasting}
        return [law for law in self.window.laws if law.t == self.end and formula(law.formula) not in kept]

    def decides(self) -> bool:
        """Return whether the system has all laws of the controller's decisions."""
        return all(law.model != self.controller.name for law in self.left_out)

    def absolute(self) -> list[str]:
        """Return the names of the counts whose origins change the controller's decisions."""
        constants, own = self.window.constants, self.controller.name
        free = _shifts([law.formula for law in self.lasting if law.model != own], constants)
        kept = _shifts([law.formula for law in self.lasting], constants)
        if all(origin in kept for origin in _ORIGINS if origin in free):
            return []
        observed = getattr(self.controller, "observations", {})
        return [each for each in self.controller.parameters if each in observed and observed[each].unit == BYTES]

    def unbounded(self) -> str:
        dated: list[str] = getattr(self.controller, "dated", list)()
        return ", ".join(f"`{name}`" for name in dated) or "values that refer to the whole execution"

    def system(self, without: Collection[str]) -> TransitionSystem:
        constants, end = self.window.constants, self.end
        starts = self._lasting_starts()
        lasting = [law for law in self.lasting if law.name not in without]
        step = [law.formula for law in lasting] + [each for each in starts if self._is_constant(each)]
        shift = _shifts(step, constants)
        zero = {Symbol(f"{name}_{end - 1}", REAL): linear(0) for name in shift if name not in constants}
        relative = Replaced(zero)
        state = [each for each in self._read(step) if each not in zero]
        after = {each: relative.value(self._moved_by(each, 1, shift)) for each in state}
        at_first = {each: self._moved_by(each, 0, shift) for each in state}
        before = [law for law in self.early if law.t < end]
        return TransitionSystem(
            self.window.x,
            tuple(state),
            (*(law.formula for law in before), *starts),
            at_first,
            tuple(self._current(before, lasting, {*state, *zero}, relative)),
            tuple(relative.condition(each) for each in step),
            after,
            zero,
            shift,
            tuple(law.formula for law in lasting),
            tuple(dict.fromkeys(law.name for law in self.left_out)),
            tuple(self._costly(lasting)),
            tuple(without),
        )

    def _costly(self, laws: Sequence[Law]) -> Iterator[str]:
        """Yield the names of the network's laws for which the state needs the most additional unknowns.

        Laws that relate the origins of columns stay, because a claim may be about a difference of columns.
        """

        def kept(without: str | None) -> list[Truth]:
            return [law.formula for law in laws if law.name != without]

        def size(without: str | None) -> int:
            return len(list(self._read(kept(without))))

        def origins(without: str | None) -> dict[str, dict[str, Any]]:
            return _shifts(kept(without), self.window.constants)

        sizes = {name: size(name) for name in dict.fromkeys(law.name for law in laws)}
        least, known = min(sizes.values(), default=0), origins(None)
        own = {law.name for law in laws if law.model == self.controller.name}
        for name, number in sizes.items() if least < size(None) else ():
            if number == least and name not in own and origins(name) == known:
                yield name

    def _lasting_starts(self) -> list[Truth]:
        """Return the conditions under which executions of any length begin."""
        starts: list[Truth] = [truth for truth in _starts(self.window) if truth is not True]
        for longer, _ in self._longer:
            more = list(_starts(longer))
            nodes = {formula(truth) for truth in more}
            if any(formula(truth) not in nodes for truth in starts):
                raise InputError("a condition on the begin depends on the last step; expected a condition on step 0")
            if answer(longer.checker, *more) == UNSAT:
                raise InputError("no execution begins like this; expected another start")
        return starts

    def _read(self, step: Sequence[Truth]) -> Iterator[Any]:
        """Yield the unknowns before the step that the step reads, and those between them and the step."""
        oldest: dict[tuple[str, str], tuple[Place, Any]] = {}
        for symbol in unknowns(step):
            place = Place.of(symbol, self.window.constants)
            if place.column in self._follows or place.since(0) >= self.end:
                continue
            if place.key not in oldest or place.since(0) < oldest[place.key][0].since(0):
                oldest[place.key] = place, symbol
        for column, unit in self._kept():  # a claim may be about a state that no step reads
            if (column, "") not in oldest:
                place = Place(column, self.end - 1)
                oldest[place.key] = place, place.symbol(BOOL if unit == CONDITION else REAL)
        for place, symbol in oldest.values():
            steps = 1 if place.t is None else self.end - place.t
            for later in range(steps):
                yield place.symbol(symbol.symbol_type(), later)

    def _kept(self) -> Iterator[tuple[str, Any]]:
        """Yield the column and the unit of each state variable of each flow."""
        for number in self._numbers:
            yield from ((f"{memory.name}{number}", memory.unit) for memory in self.controller.state)

    @property
    def _numbers(self) -> list[str]:
        """The numbers of the flows, as columns have them; empty text if there is one flow."""
        count = len(self.window.x.flows)
        return [str(number) for number in range(1, count + 1)] if count > 1 else [""]

    @cached_property
    def _follows(self) -> frozenset[str]:
        """The columns that follow from the state, or that only the step reads."""
        beliefs = [each.name for each in self.query.model.beliefs if "delay" in _reads(each)]
        return frozenset({*(f"{name}{number}" for name in _FOLLOWING for number in self._numbers), *beliefs})

    def _moved_by(self, symbol: Any, steps: int, shift: Mapping[str, Mapping[str, Any]]) -> Any:
        """Return an unknown some steps later, relative to the origins at that time."""
        place = Place.of(symbol, self.window.constants)
        value = as_value(place.symbol(symbol.symbol_type(), steps))
        if symbol.symbol_type() is BOOL:
            return value
        value = value + self.window.clocks.get(place.column, linear(0)) * steps
        for origin, amounts in shift.items():
            if place.column in amounts:
                value = value - as_value(Symbol(f"{origin}_{self.end - 1 + steps}", REAL)) * amounts[place.column]
        return value

    def _current(
        self, before: Sequence[Law], laws: Sequence[Law], known: set[Any], relative: Replaced
    ) -> Iterator[Truth]:
        """Yield the lasting laws of the current step that determine values which follow from the state."""
        lasting = {node for t, node in self._moved_before(laws) if t == self.end - 1}
        for law in before:
            places = {each: Place.of(each, self.window.constants) for each in unknowns([law.formula])}
            follows = [each for each, place in places.items() if place.column in self._follows]
            within = all(each in known or places[each].t == self.end - 1 for each in follows)
            rest = all(each in known for each in places if each not in follows)
            if law.t == self.end - 1 and follows and within and rest and formula(law.formula) in lasting:
                yield relative.condition(law.formula)

    def _moved_before(self, laws: Sequence[Law]) -> set[tuple[int, Any]]:
        """Return the laws with all steps shifted, as if the execution began one step earlier."""
        moved = Replaced(self.window.later([law.formula for law in laws], -1))
        truths = ((law.t - 1, moved.condition(law.formula)) for law in laws)
        return {(t, truth.node) for t, truth in truths if not isinstance(truth, bool)}


def _reads(belief: Any) -> set[str]:
    return belief.program.reads(belief.name) if belief.program else set()


def _starts(window: Window) -> Iterator[Truth]:
    """Yield the conditions under which executions begin."""
    query, same = window.query, Replaced({})
    for way in query.property.ways_to_fail(query.model, query.buffer):
        for premise in (way.premises(window.x) if way.premises else {}).values():
            yield from _parts(same.condition(premise))
        return


def _parts(truth: Truth) -> Iterator[Truth]:
    """Yield the parts of a conjunction."""
    node = formula(truth)
    if node.is_and():
        for each in node.args():
            yield from _parts(Condition(each))
    else:
        yield truth


def _rows(conditions: Sequence[Truth], constants: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Yield the sums of the coefficients of each column, for each term that conditions compare."""
    for term in comparisons(conditions):
        row: dict[str, Any] = {}
        for symbol, coefficient in term.coefficients.items():
            column = Place.of(symbol, constants).column
            row[column] = row.get(column, 0) + coefficient
        yield row


def _shifts(conditions: Sequence[Truth], constants: frozenset[str]) -> dict[str, dict[str, Any]]:
    """Return the shifts of columns that change none of the conditions, by their origins."""
    rows = list(_rows(conditions, constants))
    names = dict.fromkeys(name for row in rows for name in row)
    others = sorted(names, key=lambda name: (name in constants, name))
    order = [*(name for name in _ORIGINS if name in names), *(name for name in others if name not in _ORIGINS)]
    found = shifts(rows, order)
    return {name: shift for name, shift in found.items() if name not in constants}


#: A number for each column, by name.
Shift = dict[str, Fraction]


def shifts(rows: Iterable[Mapping[str, Fraction]], names: Sequence[str]) -> dict[str, dict[str, Fraction]]:
    """Return a basis of the shifts that change none of the rows.

    A shift adds a number to each column. Each member of the basis belongs to one column, its pivot. It adds 1 to the
    pivot, and 0 to the pivots of the other members.

    A row has the sum of the coefficients of each column in a linear term of the laws. Columns that come first are
    preferred as pivots. The result has the shifts by their pivots.
    """
    free = [{other: Fraction(name == other) for other in names} for name in names]
    known = set(names)
    for row in rows:
        read = [(name, number) for name, number in row.items() if name in known]
        values = [sum((number * shift[name] for name, number in read if shift[name]), Fraction(0)) for shift in free]
        # Of all shifts that change the row, the last one leaves the basis. The others are corrected by it.
        chosen = next((place for place in reversed(range(len(free))) if values[place]), None)
        if chosen is None:
            continue
        removed, amount = free.pop(chosen), values.pop(chosen)
        for shift, value in zip(free, values, strict=True):
            for name in names if value else ():
                shift[name] -= removed[name] * value / amount
    return {name: {other: number for other, number in shift.items() if number} for name, shift in _reduced(free, names)}


def _reduced(basis: list[Shift], names: Sequence[str]) -> list[tuple[str, Shift]]:
    """Return the reduced basis, each member with its pivot."""
    reduced: list[tuple[str, Shift]] = []
    for name in names:
        chosen = next((shift for shift in basis if shift[name]), None)
        if chosen is None:
            continue
        basis = [shift for shift in basis if shift is not chosen]
        chosen = {other: number / chosen[name] for other, number in chosen.items()}
        for shift in [*basis, *(shift for _, shift in reduced)]:
            factor = shift[name]
            for other in names if factor else ():
                shift[other] -= factor * chosen[other]
        reduced.append((name, chosen))
    return reduced
