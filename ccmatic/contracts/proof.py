"""Proofs of performance: the contract that a file in proofs/ fills (section 5.2 and Appendix F of the paper).

A proof is a transition system. Its states are conditions on beliefs and network at one step; the controller's life is
cut into windows of T-1 steps, each of which begins in one. From the declaration follow the lemmas, each about one
window: it ends in its state or in one that this leads to; while it stays, some measure improves and none degrades, so
that progress adds up; objectives are met. Each lemma is a statement about every trace that begins anyhow.

A controller that looks back needs windows that have more than one step in common: what a window says of its beginning
is then of its first `common` steps, and what it says of its end of its last ones, with which the next begins.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from ccmatic.base import InputError, suggest
from ccmatic.contracts.column import Kept
from ccmatic.contracts.execution import ending
from ccmatic.contracts.model import Model
from ccmatic.contracts.steps import Number
from ccmatic.contracts.views import NetworkView
from ccmatic.logic import Term, Truth, every, no, some

#: Values of constants, by name; and what is said with them of a window, and of one of its steps.
Values = Mapping[str, Fraction]
OfWindow = Callable[[NetworkView, Values], Truth]
OfStep = Callable[[NetworkView, int, Values], Truth]


@dataclass(frozen=True)
class Constant:
    """An unknown number of the lemmas, to be found between `low` and `high` to a resolution of `step`.

    better: `larger` or `smaller`. at: a value that the author chose, for one that trades off with the next constant;
    front: other values of such a one, at which the next one is found too. paper: what the paper has. joined: it and the
    constant before it limit each other, as bounds do that are kept only all at once, and are found together.
    droppable: at its loosest value it bounds nothing.
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

    def grid(self) -> list[Fraction]:
        """The values, Fractions, from the loosest to the best."""
        values = [self.low + i * self.step for i in range(int((self.high - self.low) / self.step) + 1)]
        return values if self.better == "larger" else values[::-1]

    def dropped(self, value: Fraction) -> bool:
        """Whether at this value it bounds nothing."""
        return self.droppable and value == self.grid()[0]


@dataclass(frozen=True)
class Objective:
    """What a window ensures: holds(x, c), c giving constants by name. says: in words, `{constant}` for its value."""

    name: str
    says: str
    holds: OfWindow


@dataclass(frozen=True)
class Measure:
    """How far a window is from leaving its state. value(x, t): a term, which progress moves towards `limit(x)`, which
    it cannot pass in the state: by a factor, or, if `unit(x)` is given, by a number of these; `by` names that constant.
    falls: towards the limit; else it rises. after(f, c): for the report, its worst value, in terms of the limit (times
    it, or so many units from it) right after the link rate changed by a factor f, up or down, in the steady state."""

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
        """The formula that in a window x it ends nearer its limit by a step, c's, at least. c: constants by name;
        common: steps that it shares with the next one."""
        first, last = self._ends(x, common)
        nearer, farther = (last, first) if self.falls else (first, last)
        step: Term = self.unit(x) * c[self.by] if self.unit else 0
        return nearer * (1 if self.unit else c[self.by]) + step <= farther

    def degrades(self, x: NetworkView, common: int = 1) -> Truth:
        """The formula that in a window x it ends farther from its limit than it began."""
        first, last = self._ends(x, common)
        return last > first if self.falls else last < first

    def within(self, x: NetworkView) -> Truth:
        """The formula that in a window x it has not passed its limit at first; units are above 0, and of a factor both
        value and limit."""
        value, limit = self.value(x, 0), self.limit(x)
        ordered = value >= limit if self.falls else value <= limit
        return every(ordered, self.unit(x) > 0) if self.unit else every(ordered, value > 0, limit > 0)

    def stalls(self, c: Values) -> bool:
        """Whether steps of this size, c's, could be repeated for ever without reaching any limit."""
        return c[self.by] <= (0 if self.unit else 1)

    def _ends(self, x: NetworkView, common: int) -> tuple[Number, Number]:
        return self.value(x, 0), self.value(x, x.horizon - common)


@dataclass(frozen=True)
class State:
    """A condition at a step, and at those after it that windows have in common: holds(x, t, c). leads_to: other states
    in which a window may end that begins in it. measures: of progress while it lasts; ordered: one may degrade in a
    window in which one before it improves. unless: a window that meets these need not progress. Without either, a
    window leaves the state, or it is final. ensures: met in each window that begins in it. says: the condition in
    words, as an objective's."""

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
    """If `given(x, c)` then `then(x, c)`, on every trace. says: in words, `{constant}` for its value. paper: it is a
    statement of the paper's, or another, checked for comparison: the proof does not rest on it. empty: `given` may be
    true of no window at all. So it may where a window is to stay in its state, as leaving it at once is no fault; a
    state in which no window begins is one."""

    name: str
    given: OfWindow
    then: OfWindow
    says: str = ""
    paper: bool = False
    empty: bool = False


@dataclass(frozen=True)
class Proof:
    """model, buffer, jitter, horizon: the network, as in queries. beliefs: those that the proof reads. states,
    constants: in the order in which they are reached, and found. lemmas: others. common: steps that a window and the
    next one have in common; senders by a window alone may have more than one. of: the proof in place of this one, by
    what the controller remembers. formerly: SHA-256 of earlier texts of the definition that said the same: what was
    proved by them is."""

    model: str
    buffer: str
    beliefs: tuple[str, ...]
    states: tuple[State, ...]
    constants: tuple[Constant, ...]
    jitter: int = 1
    horizon: int = 10
    lemmas: tuple[Lemma, ...] = ()
    common: int = 1
    of: "Callable[[Sequence[Kept]], Proof] | None" = None
    formerly: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse two of one name, or of names that differ in signs only: one would stand for both."""
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
        """Every lemma that follows from the declaration, on the network model, and those declared."""
        join = "what a window assumes of its first step is true of its last"
        yield Lemma("windows join", _always, lambda x, c: self._begins_again(model, x), join)

        def cover(x: NetworkView, c: Values) -> Truth:
            return some([state.holds(x, 0, c) for state in self.states])

        names = ", ".join(f"'{state.name}'" for state in self.states)
        yield Lemma("states cover everything", _always, cover, f"every window begins in one of {names}")
        for state in self.states:
            yield from self._lemmas_of(state)
        yield from self.lemmas

    def joined_with(self, constant: Constant) -> list[Constant]:
        """The constants that are found together with this one, and itself, in order."""
        together = list[Constant]()
        for other in self.constants:
            if not other.joined and constant in together:
                break
            together = [*together, other] if other.joined else [other]
        return together

    def about(self, kept: Sequence[Kept]) -> "Proof":
        """The proof of a controller that remembers so much."""
        return self.of(kept) if self.of else self

    def end(self, x: NetworkView) -> int:
        """The step of a window x at which the next one begins."""
        return x.horizon - self.common

    def state(self, name: str) -> State:
        """A state by its name; raises InputError."""
        for state in self.states:
            if state.name == name:
                return state
        raise InputError(f"there is no state '{name}'; {suggest(name, [state.name for state in self.states])}")

    def _begins_again(self, model: Model, x: NetworkView) -> Truth:
        """What a window assumes of its first step is true of its last."""
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


class Reads(dict[str, Fraction]):
    """Constants by name, which remembers those that were read."""

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        self.names = set[str]()

    def __getitem__(self, name: str) -> Fraction:
        self.names.add(name)
        return super().__getitem__(name)

    def __missing__(self, name: str) -> Fraction:
        raise InputError(f"a lemma reads a constant '{name}' that is not declared; {suggest(name, self)}")


def file_stem(name: str) -> str:
    """What files about a lemma or a constant are named."""
    return re.sub("[^A-Za-z0-9]+", "_", name)


def beyond(constant: str) -> str:
    """What a window is named that breaks a lemma at a constant's next better value."""
    return f"beyond {constant}"


def _distinct(what: str, names: Iterable[str]) -> None:
    stems = dict[str, str]()
    for name in names:
        stem = file_stem(name)
        if stem in stems:
            raise InputError(f"two {what} are named '{stems[stem]}' and '{name}'; expected names of their own")
        stems[stem] = name


def _always(x: NetworkView, c: Values) -> Truth:
    return True


def _progress(state: State, x: NetworkView, c: Values, common: int) -> Truth:
    improved = some([measure.improves(x, c, common) for measure in state.measures])
    excused = every([objective.holds(x, c) for objective in state.unless]) if state.unless else False
    return some(improved, excused)


def _in_order(state: State, x: NetworkView, c: Values, common: int) -> Truth:
    """None degrades in a window in which none before it improves."""
    measures = state.measures
    improves = [measure.improves(x, c, common) for measure in measures]
    before = [some(improves[:place]) for place in range(len(measures))]
    stays = [no(measure.degrades(x, common)) for measure in measures]
    return every([some(kept, better) for kept, better in zip(stays, before, strict=True)])


def _none_degrades(state: State, x: NetworkView, c: Values, common: int) -> Truth:
    return no(some([measure.degrades(x, common) for measure in state.measures]))
