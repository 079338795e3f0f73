"""Proofs of performance: the contract of a file in proofs/ (section 5.2 and Appendix F of the paper).

A proof is a transition system. Its states are conditions on beliefs and network at one step. Windows of T-1 steps
follow each other while a controller runs, and each window begins in some state. The declaration of a proof implies
lemmas about one window:

- The window ends in the state in which it began, or in a state to which this state leads.
- While windows stay in the state, some measure improves and no measure degrades. So the improvements add up.
- The window meets the objectives of its state.

Each lemma is a statement about every trace, from any start.

If a controller reads earlier observations, windows must overlap in more than one step. Conditions on the start of a
window then concern its first `common` steps. Conditions on the end of a window concern its last `common` steps, with
which the next window begins.
A `RoundProof` is about one round of a controller, as a map of real numbers, which may multiply them. A round takes a
few numbers, such as the share of a flow and the delay, to their values one round later. The laws state what may happen
in a round. The lemmas are about a single round, from any numbers that satisfy their premises.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from ccmatic.base import InputError, suggest
from ccmatic.contracts.columns import Number, StateVariable
from ccmatic.contracts.execution import ending
from ccmatic.contracts.model import Model
from ccmatic.contracts.views import NetworkView
from ccmatic.logic import Term, Truth, every, no, some

#: Three types: the values of constants by name; a condition on a window that reads constants; and a condition on a
#: step of a window that reads constants.
Values = Mapping[str, Fraction]
OfWindow = Callable[[NetworkView, Values], Truth]
OfStep = Callable[[NetworkView, int, Values], Truth]


@dataclass(frozen=True)
class Corollary:
    """A statement about all time that follows from the lemmas of a proof.

    Attributes:
        says: The statement in words.
        derive: `derive(d)` adds facts to a deduction d (`ccmatic.proving.deduction.Deduction`), and returns the
            conditions that make up the statement. `ccmatic check` decides whether they follow from the facts.
    """

    says: str
    derive: Callable[[Any], Iterable[Truth]]


#: A function that returns the corollaries of a proof. Its arguments are the constants by name, the number of points T
#: of a window, and D in steps.
Follows = Callable[[Values, int, int], Iterable[Corollary]]


@dataclass(frozen=True)
class Constant:
    """An unknown number in the lemmas.

    A search finds the best value of the constant from `low` to `high`, at resolution `step`.

    Attributes:
        name: The name of the constant.
        says: The meaning of the constant in words.
        low: The smallest value.
        high: The largest value.
        step: The resolution.
        better: Which values are better: `larger` or `smaller`.
        at: A value that the author of the proof chose, because this constant trades off against the next constant.
        front: Further values of such a constant. For each of these values, the search also finds the next constant.
        paper: The value of the constant in the paper.
        joined: Whether this constant and the previous constant depend on each other, like bounds that hold only
            together. If so, the search finds both constants together.
        droppable: Whether the constant at its loosest value stands for no bound.
        internal: Whether the constant bounds only the controller's own state. Such a bound alone is no guarantee about
            the network.
    """

    name: str
    says: str
    low: Fraction
    high: Fraction
    step: Fraction = Fraction(1, 100)
    better: str = "larger"
    at: Fraction | None = None
    front: tuple[Fraction, ...] = ()
    paper: str = "–"
    joined: bool = False
    droppable: bool = False
    internal: bool = False

    def grid(self) -> list[Fraction]:
        values = [self.low + i * self.step for i in range(int((self.high - self.low) / self.step) + 1)]
        return values if self.better == "larger" else values[::-1]

    def dropped(self, value: Fraction) -> bool:
        """Return whether this value of the constant stands for no bound."""
        return self.droppable and value == self.grid()[0]


@dataclass(frozen=True)
class Objective:
    """A guarantee that a window gives.

    Attributes:
        name: The name of the objective.
        says: The guarantee in words, with `{constant}` for a constant's value.
        holds: `holds(x, c)` is the condition on window x, where c has the constants by name.
    """

    name: str
    says: str
    holds: OfWindow


@dataclass(frozen=True)
class Measure:
    """A measure of the distance between a window and the end of its state.

    Attributes:
        name: The name of the measure.
        value: `value(x, t)` is the measured term, which moves towards the limit.
        limit: `limit(x)` is a term that the value cannot pass while windows stay in the state.
        limit_says: The limit, in words.
        by: The name of the constant that gives the size of one unit of progress: a factor or, if `unit` is given, a
            number of units.
        falls: Whether the value falls towards the limit; otherwise it rises.
        unit: `unit(x)` is the unit in which progress is counted.
        unit_says: The unit, in words.
        after: `after(f, c)` is the worst value just after the link rate changes in the steady state by a factor of f,
            up or down. Reports print this worst value relative to the limit: as a factor, or as a number of units.
    """

    name: str
    value: Callable[[NetworkView, int], Number]
    limit: Callable[[NetworkView], Number]
    limit_says: str
    by: str
    falls: bool = True
    unit: Callable[[NetworkView], Number] | None = None
    unit_says: str = ""
    after: Callable[[Fraction, Values], Any] | None = None

    def improves(self, x: NetworkView, c: Values, common: int = 1) -> Truth:
        """Return the formula that window x brings the measure nearer to its limit, by at least one unit of progress.

        `common` is the number of steps that x and the next window share.
        """
        first, last = self._ends(x, common)
        nearer, farther = (last, first) if self.falls else (first, last)
        step: Term = self.unit(x) * c[self.by] if self.unit else 0
        return nearer * (1 if self.unit else c[self.by]) + step <= farther

    def degrades(self, x: NetworkView, common: int = 1) -> Truth:
        """Return the formula that the measure is farther from its limit at the end of window x than at its start."""
        first, last = self._ends(x, common)
        return last > first if self.falls else last < first

    def within(self, x: NetworkView) -> Truth:
        """Return the formula that window x begins at the limit or before it, and that the unit of progress is positive.

        If the measure has no unit, progress is a factor. In this case, the value and the limit must be positive.
        """
        value, limit = self.value(x, 0), self.limit(x)
        ordered = value >= limit if self.falls else value <= limit
        return every(ordered, self.unit(x) > 0) if self.unit else every(ordered, value > 0, limit > 0)

    def stalls(self, c: Values) -> bool:
        """Return whether progress of the size that c states could repeat for ever without reaching any limit."""
        return c[self.by] <= (0 if self.unit else 1)

    def _ends(self, x: NetworkView, common: int) -> tuple[Number, Number]:
        return self.value(x, 0), self.value(x, x.horizon - common)


@dataclass(frozen=True)
class State:
    """A condition on a step, and on the following steps that consecutive windows share.

    If a state has neither measures nor `unless`, then each window leaves the state, or the state is final.

    Attributes:
        name: The name of the state.
        says: The condition in words, as in an Objective.
        holds: `holds(x, t, c)` is the condition on step t of window x, where c has the constants by name.
        leads_to: The other states in which a window that begins in this state may end.
        measures: The measures that improve while the state lasts.
        ensures: The objectives that each window meets if the window begins in this state.
        unless: Objectives that replace progress: a window that meets all of them need not improve any measure.
        ordered: Whether the measures are ordered: a measure may degrade in a window in which an earlier measure
            improves.
    """

    name: str
    says: str
    holds: OfStep
    leads_to: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    ensures: tuple[Objective, ...] = ()
    unless: tuple[Objective, ...] = ()
    ordered: bool = False


@dataclass(frozen=True)
class Lemma:
    """The statement that every window which satisfies `given(x, c)` also satisfies `then(x, c)`.

    Attributes:
        name: The name of the lemma.
        given: The premise, a function that returns a condition.
        then: The conclusion, a function that returns a condition.
        says: The statement in words, with `{constant}` for a constant's value.
        paper: Whether the lemma is checked only for comparison, such as a statement of the paper. The proof does not
            depend on such a lemma.
        empty: Whether the lemma is acceptable if no window satisfies its premise. An example is a lemma about windows
            that stay in a state, because every window may leave the state at once. Another example is a state in which
            no window begins.
    """

    name: str
    given: OfWindow
    then: OfWindow
    says: str = ""
    paper: bool = False
    empty: bool = False


class WithConstants:
    constants: Sequence[Constant]

    def joined_with(self, constant: Constant) -> list[Constant]:
        """Return, in order, this constant and the other constants that the search finds together with it."""
        together = list[Constant]()
        for other in self.constants:
            if not other.joined and constant in together:
                break
            together = [*together, other] if other.joined else [other]
        return together


@dataclass(frozen=True)
class Proof(WithConstants):
    """A proof, as its file declares it.

    Attributes:
        model: The name of the network model, as in queries.
        buffer: The buffer, as in queries.
        beliefs: The beliefs that the proof reads.
        states: The states, in the order in which windows reach them.
        constants: The constants, in the order of the search.
        jitter: D in steps.
        horizon: T, the number of points of a window, which spans T - 1 steps.
        lemmas: The lemmas that the proof states in addition to those that the declaration implies.
        common: The number of steps that consecutive windows share. Only for window senders may this number exceed one.
        of: A function that takes the controller's state, and returns the proof that replaces this one.
        follows: A function that returns further statements that follow from the lemmas.
        formerly: SHA-256 digests of earlier texts of this definition with the same meaning. Results for them remain
            valid.
    """

    model: str
    buffer: str
    beliefs: tuple[str, ...]
    states: tuple[State, ...]
    constants: tuple[Constant, ...]
    jitter: int = 1
    horizon: int = 10
    lemmas: tuple[Lemma, ...] = ()
    common: int = 1
    of: "Callable[[Sequence[StateVariable]], Proof] | None" = None
    follows: Follows | None = None
    formerly: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Reject names that are equal or differ only in special characters, because they would share a file."""
        _distinct("states", [state.name for state in self.states])
        _distinct("constants", [constant.name for constant in self.constants])
        for before, constant in pairwise(self.constants):
            if constant.joined and (constant.at is not None or before.at is not None):
                raise InputError(
                    f"'{constant.name}' is joined to '{before.name}'; expected neither of them to have `at`"
                )
        lemmas = [lemma.name for lemma in self.all_lemmas(None)]
        _distinct("lemmas", [*lemmas, *(beyond(constant.name) for constant in self.constants)])

    def all_lemmas(self, model: Any) -> Iterator[Lemma]:
        """Yield every lemma that the declaration implies for the network model, and then the lemmas in `lemmas`."""
        join = "what a window assumes of its first step is true of its last"
        yield Lemma("windows join", _always, lambda x, c: self._begins_again(model, x), join)

        def cover(x: NetworkView, c: Values) -> Truth:
            return some([state.holds(x, 0, c) for state in self.states])

        names = ", ".join(f"'{state.name}'" for state in self.states)
        yield Lemma("states cover everything", _always, cover, f"every window begins in one of {names}")
        for state in self.states:
            yield from self._lemmas_of(state)
        yield from self.lemmas

    def about(self, kept: Sequence[StateVariable]) -> "Proof":
        """Return the proof for a controller with this state."""
        return self.of(kept) if self.of else self

    def end(self, x: NetworkView) -> int:
        """Return the step of window x with which the next window begins."""
        return x.horizon - self.common

    def bounds_nothing(self, values: Values) -> bool:
        """Return whether the constants with these values bound nothing, or only the controller's own state."""
        dropped = [each.internal or each.dropped(values[each.name]) for each in self.constants]
        return any(each.droppable for each in self.constants) and all(dropped)

    def state(self, name: str) -> State:
        for state in self.states:
            if state.name == name:
                return state
        raise InputError(f"there is no state '{name}'; {suggest(name, [state.name for state in self.states])}")

    def _begins_again(self, model: Model, x: NetworkView) -> Truth:
        """Return the condition that the last steps of a window satisfy the assumptions about a window's first steps."""
        network = [law.formula for law in model.laws(ending(model, x, self.common))]
        read = [belief.start for belief in model.carried_over() if belief.name in self.beliefs]
        begun = [start(x, self.end(x)) for start in read if start]
        shared = range(self.end(x), x.horizon)
        kept = [each.first(flow, t) for flow in x.flows for each in flow.kept for t in shared]
        return every(network, begun, kept)

    def _lemmas_of(self, state: State) -> Iterator[Lemma]:
        def begins(x: NetworkView, c: Values) -> Truth:
            return state.holds(x, 0, c)

        def stays(x: NetworkView, c: Values) -> Truth:
            return every(begins(x, c), state.holds(x, self.end(x), c))

        def leads_on(x: NetworkView, c: Values) -> Truth:
            ends = [self.state(name) for name in state.leads_to]
            if state.measures or state.unless or not ends:
                ends.append(state)
            return some([end.holds(x, self.end(x), c) for end in ends])

        begun = f"a window that begins in '{state.name}' ({state.says})"
        stay = ["itself"] if state.measures or state.unless or not state.leads_to else []
        ends = " or ".join([*(f"'{name}'" for name in state.leads_to), *stay])
        yield Lemma(f"{state.name}: leads on", begins, leads_on, f"{begun} leads to {ends}")
        for objective in state.ensures:

            def met(x: NetworkView, c: Values, o: Objective = objective) -> Truth:
                return o.holds(x, c)

            yield Lemma(f"{state.name}: {objective.name}", begins, met, f"in {begun}, {objective.says}")
        stayed = f"in a window that begins and ends in '{state.name}' ({state.says})"
        named = [measure.name for measure in state.measures]
        if state.measures or state.unless:
            nearer = " or ".join([*(f"{name} nears its limit" for name in named), *(o.says for o in state.unless)])

            def progress(x: NetworkView, c: Values) -> Truth:
                return _progress(state, x, c, self.common)

            yield Lemma(f"{state.name}: progresses", stays, progress, f"{stayed}, {nearer}", empty=True)
        if state.measures:
            none = f"{stayed}, none of {', '.join(named)} ends farther from its limit"
            none += " unless one before it nears its own" if state.ordered else ""

            def degrades(x: NetworkView, c: Values) -> Truth:
                return (_in_order if state.ordered else _none_degrades)(state, x, c, self.common)

            yield Lemma(f"{state.name}: nothing degrades", stays, degrades, none, empty=True)

            def within(x: NetworkView, c: Values) -> Truth:
                return every([measure.within(x) for measure in state.measures])

            past = f"in {begun}, none of {', '.join(named)} is past its limit at first"
            yield Lemma(f"{state.name}: is bounded", begins, within, past)


class RecordingDict(dict[str, Fraction]):
    """A dictionary of constants by name. The attribute `names` records the constants that were read."""

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        self.names = set[str]()

    def __getitem__(self, name: str) -> Fraction:
        self.names.add(name)
        return super().__getitem__(name)

    def __missing__(self, name: str) -> Fraction:
        raise InputError(f"a lemma reads a constant '{name}' that is not declared; {suggest(name, self)}")


def file_stem(name: str) -> str:
    """Return the stem of the names of the files about a lemma or a constant."""
    return re.sub("[^A-Za-z0-9]+", "_", name)


def beyond(constant: str) -> str:
    """Return the name for a window that breaks a lemma at the next better value of `constant`."""
    return f"beyond {constant}"


def _distinct(what: str, names: Iterable[str]) -> None:
    stems = dict[str, str]()
    for name in names:
        stem = file_stem(name)
        if stem in stems:
            raise InputError(f"two {what} are named '{stems[stem]}' and '{name}'; expected different names")
        stems[stem] = name


def _always(x: NetworkView, c: Values) -> Truth:
    return True


def _progress(state: State, x: NetworkView, c: Values, common: int) -> Truth:
    improved = some([measure.improves(x, c, common) for measure in state.measures])
    excused = every([objective.holds(x, c) for objective in state.unless]) if state.unless else False
    return some(improved, excused)


def _in_order(state: State, x: NetworkView, c: Values, common: int) -> Truth:
    """Return the condition that a measure degrades only if an earlier measure improves."""
    measures = state.measures
    improves = [measure.improves(x, c, common) for measure in measures]
    before = [some(improves[:place]) for place in range(len(measures))]
    stays = [no(measure.degrades(x, common)) for measure in measures]
    return every([some(kept, better) for kept, better in zip(stays, before, strict=True)])


def _none_degrades(state: State, x: NetworkView, c: Values, common: int) -> Truth:
    return no(some([measure.degrades(x, common) for measure in state.measures]))


class RoundNumbers(dict[str, Any]):
    """The numbers of a round by name: unknowns, or exact numbers."""

    def __missing__(self, name: str) -> Term:
        raise InputError(f"a law or lemma reads a number '{name}' that is not declared; {suggest(name, self)}")


@dataclass(frozen=True)
class RoundProof(WithConstants):
    """A proof about one round, as its file declares it.

    Attributes:
        controller: The name of the controller whose rounds the map describes.
        numbers: The meaning of each number of a round in words, by its name.
        laws: `laws(x)` yields the conditions that all rounds satisfy; x has the numbers by name.
        constants: The constants, in the order of the search.
        lemmas: The lemmas. Their premises and conclusions take the numbers x and the constants c.
        formerly: As in Proof.
    """

    controller: str
    numbers: Mapping[str, str]
    laws: Callable[[RoundNumbers], Iterable[Truth]]
    constants: tuple[Constant, ...]
    lemmas: tuple[Lemma, ...]
    formerly: tuple[str, ...] = ()
