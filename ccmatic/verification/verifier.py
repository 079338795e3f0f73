"""The verifier: does a controller ensure the query's property on every trace of its network?"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from time import monotonic
from typing import Any

from ccmatic import controllers
from ccmatic.base import Clock, InputError, OutOfTime, blamed
from ccmatic.contracts import BEFORE_TIMEOUT, Bounds, Execution, Kept, Law, Model, NetworkView, WayToFail
from ccmatic.logic import Truth, every
from ccmatic.query import Decides, Query
from ccmatic.solving import SAT, UNKNOWN, UNSAT, Checker, SolverOptions, conflict, script
from ccmatic.traces import Trace
from ccmatic.verification import replayer as replay
from ccmatic.verification.bounds import require_bounds

HOLDS, VIOLATED, UNDECIDED = "holds", "violated", "unknown"

#: What is undecided where no execution of the network is known, and so whether "holds" says anything.
EXECUTION = "any execution"

#: The most laws that a message names.
LAWS = 3


@dataclass(frozen=True)
class Verdict:
    """What is found of a controller: HOLDS, VIOLATED or UNDECIDED.

    seconds: it took. way: the way to fail that a trace goes, or that was not decided in time; None if it holds.
    trace: as the query for that way encodes it (`replayer.complete` adds what it leaves out), if violated."""

    controller: Decides
    verdict: str
    seconds: float
    way: str | None = None
    trace: Trace | None = None


class Verifier:
    """Verifies controllers against one query, with one incremental solver for each way to fail.

    reads: the beliefs that the controllers may read. options: SolverOptions; the timeout is for a
    controller.
    proved: the ways to fail, by name, that need not be asked, as `prove` ruled them out for this query.
    state: what the controllers remember, the same for all.

    Nothing holds of nothing: before the first that holds, or is proved, an execution of the network is known, with
    what beliefs may be at first; and before any holds of which a property has a premise, or which sends by a window, as
    not every window can be sent by, one of that controller. Raises InputError, which names laws that conflict, if there
    is none.
    """

    @blamed()
    def __init__(
        self,
        query: Query,
        reads: Collection[str],
        options: SolverOptions = SolverOptions(),
        proved: Collection[str] = (),
        state: Sequence[Kept] = (),
    ) -> None:
        self.query, self.reads = query, frozenset(reads)
        self._clock = Clock.of(options.timeout)
        self._options = options.with_clock(self._clock)
        ways = list(query.property.ways_to_fail(query.model, query.buffer))
        if not ways:
            raise InputError(f"the property {query.property.name} has no way to fail; expected one at least")
        left = [way for way in ways if way.name not in proved]
        self._state = state
        self._parts = [Part(query, way, self._options, () if way.any_rates else reads, state) for way in left]
        self._anyones: dict[str, str] = {}
        self._inhabited = False

    @blamed()
    def verify(self, controller: Decides) -> Verdict:
        """The verdict on a controller."""
        begin = monotonic()
        controllers.require_order(controller, self.query.jitter)
        undecided = None
        with self._clock.question():
            for part in self._parts:
                answer = self._answer(part, controller)
                if answer == SAT:
                    self._ask_first(part)
                    self._inhabited = self._inhabited or not part.way.any_rates
                    return Verdict(controller, VIOLATED, monotonic() - begin, part.way.name, part.trace)
                if answer == UNKNOWN:
                    undecided = part.way.name
            undecided = undecided or self._empty(controller)
        return Verdict(controller, UNDECIDED if undecided else HOLDS, monotonic() - begin, undecided)

    @blamed()
    def prove(self) -> list[str]:
        """The names of the ways to fail that no controller can go, whatever rates it chooses. Raises OutOfTime where
        the query cannot even be put in time: then no controller's verdict would be known."""
        anyones = [part for part in self._parts if part.way.any_rates]
        ruled_out = [part.way.name for part in anyones if self._ask(part, None) == UNSAT]
        return ruled_out if ruled_out and not self._without_execution() else []

    def _empty(self, controller: Decides) -> str | None:
        """What is undecided of whether a controller has executions, of which each premise is true; None if it has."""
        ways: list[WayToFail | None] = [part.way for part in self._parts if part.way.premise]
        if not ways and not self.query.model.windows:
            return self._without_execution()
        exists = all(self._has_execution(controller, way) for way in ways or [None])
        return None if exists else EXECUTION

    def _without_execution(self) -> str | None:
        """None once an execution is known; what is undecided, if none was found in time."""
        self._inhabited = self._inhabited or self._has_execution()
        return None if self._inhabited else EXECUTION

    def _has_execution(self, controller: Decides | None = None, way: WayToFail | None = None) -> bool:
        """Whether an execution was found in time, of any rates where there is no controller. Raises InputError if there
        is none."""
        try:
            with self._clock.question():
                return self._find_execution(controller, way)
        except OutOfTime:
            return False

    def _find_execution(self, controller: Decides | None, way: WayToFail | None) -> bool:
        """The network is at hand where a way to fail was asked; it is encoded anew only if no execution has bounds that
        stay as that way has them."""
        bounds = {bound.name for bound in self.query.model.bounds()}
        whole = Part(self.query, WayToFail(EXECUTION, lambda x: True), self._options, self.reads | bounds, self._state)
        for part in (*(part for part in self._parts if not part.way.any_rates), whole):
            answer = part.execution(controller, way.premise if way else None)
            if answer == SAT:
                part.replays(self.query)
                return True
        if answer == UNSAT:
            what = f"execution of {controller.name}" if controller else "execution"
            raise whole.contradiction(what, controller, _premises(way, whole.x) if way else {})
        return False

    def _ask_first(self, part: "Part") -> None:
        """What broke this controller is likely to break the next; what no controller changes stays first."""
        self._parts.remove(part)
        self._parts.append(part)
        self._parts.sort(key=lambda other: (not other.way.any_rates, other is not part))

    def part(self, name: str) -> "Part":
        """The part for one way to fail, which has the solver and the trace."""
        return next(part for part in self._parts if part.way.name == name)

    @blamed()
    def script(self, controller: Decides) -> str:
        """What is asked about a controller, as SMT-LIB 2: it holds if and only if each answer is unsat."""
        controllers.require_order(controller, self.query.jitter)
        return "".join(part.script(controller) for part in self._parts)

    @blamed()
    def questions(self, controller: Decides) -> dict[str, list[Truth]]:
        """What is asked about a controller, for each way to fail: it holds if and only if no list of conditions has a
        solution."""
        return {part.way.name: part.question(None if part.way.any_rates else controller) for part in self._parts}

    def _answer(self, part: "Part", controller: Decides) -> str:
        """What is independent of the controller is asked once."""
        try:
            if not part.way.any_rates:
                return self._ask(part, controller)
            if part.way.name not in self._anyones:
                self._anyones[part.way.name] = self._ask(part, None)
            return self._anyones[part.way.name]
        except OutOfTime:
            return UNKNOWN

    def _ask(self, part: "Part", controller: Decides | None) -> str:
        with self._clock.question():
            return part.ask(controller)


class Part:
    """One way to fail: the network asserted once, a controller pushed and popped."""

    def __init__(
        self,
        query: Query,
        way: WayToFail,
        options: SolverOptions,
        reads: Collection[str],
        state: Sequence[Kept] = (),
    ) -> None:
        self.query, self.way, self._state = query, way, state
        self.reads = {*way.reads, *reads, *(belief.name for belief in query.model.true_states())}
        self.trace: Trace | None = None
        self._checker: Checker | None = None
        self._options = options

    @cached_property
    def x(self) -> Execution:
        """The unknowns."""
        return self.query.execution(self.way.bounds, self._state)

    @property
    def checker(self) -> Checker:
        """The solver, opened when first needed. Raises OutOfTime."""
        if self._checker is not None:
            return self._checker
        checker = Checker(self._options)
        for law in self._laws():
            checker.add(law.formula)
        return self._go(checker)

    def _go(self, checker: Checker) -> Checker:
        """Assert, in a scope of its own, what is true where this way is gone; returns the checker."""
        checker.push()
        for condition in self._way():
            checker.add(condition)
        # Only once it knows all of that may anything be asked of it.
        self._checker = checker
        return checker

    def execution(
        self, controller: Decides | None = None, premise: Callable[[NetworkView], Truth] | None = None
    ) -> str:
        """Whether there is any trace at all, of this controller (of any rates, for None), that goes any way, of which a
        premise is true; `self.trace` then has it. Raises OutOfTime."""
        checker, self._checker = self.checker, None
        checker.pop()
        checker.push()
        checker.add(choices(self.x, controller))
        checker.add(premise(self.x) if premise else True)
        answer = checker.check()
        self.trace = self.read_trace(checker.value, controller) if answer == SAT else None
        checker.pop()
        self._go(checker)
        return answer

    def replays(self, query: Query) -> None:
        """Raise InputError if a law says another thing of the numbers of the trace found last than of unknowns."""
        if self.trace is None:
            raise ValueError("the part found no trace last")
        faults = replay.check_trace(query, self.trace).faults
        if faults:
            raise InputError(f"an execution that a solver found breaks laws when it is replayed: {', '.join(faults)}")

    def contradiction(self, what: str, controller: Decides | None, given: Mapping[str, Truth]) -> InputError:
        """Return the InputError that no trace of the controller meets what is given.

        It names conditions and laws that contradict each other, none of which could be left out.

        Args:
            what: A noun for the traces, in the singular.
            controller: The controller, or None for any rates.
            given: Conditions, by what the message calls them.
        """
        laws, sender = list(self._laws()), choices(self.x, controller)
        indices = conflict([*(law.formula for law in laws), sender, *given.values()])
        conditions = [name for index, name in enumerate(given, len(laws) + 1) if index in indices]
        first = {laws[index].name: str(laws[index]) for index in reversed(indices) if index < len(laws)}
        names = list(first.values())[::-1]
        others = ["the controller"] if len(laws) in indices else []
        others += [f"the network's law{'s' * (len(names) > 1)} {_listed(names)}"] if names else []
        network = f"{self.query.model.name} with the buffer {self.query.buffer} and the horizon {self.query.horizon}"
        meets = f" that meets {_listed(conditions)}" if conditions else ""
        other = ("another condition" if len(conditions) == 1 else "other conditions") if conditions else ""
        expected = f"; expected {other}" if conditions else ""
        conflicting = f"in conflict{' with that' if conditions and others else ''}: {_listed(others or conditions)}"
        return InputError(f"{network} has no {what}{meets}, so that anything would hold; {conflicting}{expected}")

    def ask(self, controller: Decides | None) -> str:
        """Whether a trace of this controller (of anyone, for None) goes this way; `self.trace` then has it. Raises
        OutOfTime."""
        self.checker.push()
        try:
            self.enter(controller)
            answer = self.checker.check()
            self.trace = self.read_trace(self.checker.value, controller) if answer == SAT else None
        finally:
            self.checker.pop()
        return answer

    def question(self, controller: Decides | None) -> list[Truth]:
        """The conditions that a trace of this controller (of anyone, for None) that goes this way satisfies."""
        laws = [law.formula for law in self._laws()]
        return [*laws, *self._way(), *([choices(self.x, controller)] if controller else [])]

    def script(self, controller: Decides | None) -> str:
        """The question about a controller as SMT-LIB 2."""
        name = controller.name if controller else "any controller"
        return script(self.question(controller), f"{self.query}\n{name}: {self.way.name}")

    def read_trace(self, value: Callable[[Any], Any], controller: Decides | None) -> Trace:
        """The trace that a solver found, with the beliefs that this part encodes."""
        x = self.x
        unknown = x.beliefs.keys() - self._encoded()
        unknown |= x.remembered().keys() if controller is None else set()
        stated = {n: column for n, column in x.columns().items() if n.removesuffix(BEFORE_TIMEOUT) not in unknown}
        columns = {name: tuple(map(value, column)) for name, column in stated.items()}
        columns |= {name: getattr(x, name).delays(value) for name in self.query.model.measures}
        constants = {"C": value(x.C), "R_m": Fraction(x.R), "D": Fraction(x.D), "MSS": value(x.alpha)}
        if x.beta is not None:
            constants["beta"] = value(x.beta)
        constants |= {name: value(number) for name, number in x.constants.items()}
        source = controller.source if controller else None
        return Trace(x.horizon, constants, columns, self.query.record(), source)

    def enter(self, controller: Decides | None) -> None:
        """Assert the controller's choices in the current scope."""
        if controller is not None:
            self.checker.add(choices(self.x, controller))

    def _laws(self) -> Iterator[Law]:
        return chain(self.query.laws(self.x), self.query.model.belief_laws(self.x, self.reads))

    def _way(self) -> Iterator[Truth]:
        if self.way.bounds is Bounds.HOLD:
            yield from _true_bounds(self.query.model, self.x, self.reads)
        yield self.way.formula(self.x)

    def _encoded(self) -> set[str]:
        """The names of the beliefs that are encoded."""
        model = self.query.model
        return {belief.name for belief in model.beliefs} & model.closure(self.reads)


def choices(x: Execution, controller: Decides | None) -> Truth:
    """That the controller decides for the senders: all of their laws. Raises InputError where bounds are not proved."""
    for each in controllers.each_of(controller):
        for R in {flow.R for flow in x.flows}:
            require_bounds(each, R, x.D)
    return every([law.formula for law in replay.sender_laws(x, controller)])


def _premises(way: WayToFail, x: Execution) -> Mapping[str, Truth]:
    """The parts of the premise of a way to fail, by what messages call them."""
    if way.premises:
        return way.premises(x)
    return {"what is given": way.premise(x)} if way.premise else {}


def _listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = [f"{len(names) - LAWS} more"] if len(names) > LAWS else []
    parts = [*names[:LAWS], *more]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _true_bounds(model: Model, x: Execution, reads: Collection[str]) -> Iterator[Truth]:
    for bound in model.bounds():
        if bound.name in reads:
            yield from (bound.holds(x, x.beliefs[bound.name][t]) for t in range(1, x.horizon))
