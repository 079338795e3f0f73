"""The verifier. It decides whether a controller ensures the property of a query on every trace of its network."""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, count
from time import monotonic
from typing import Any

from ccmatic import controllers
from ccmatic.answers.verification import replayer as replay
from ccmatic.answers.verification.bounds import require_bounds
from ccmatic.base import Clock, InputError, OutOfTime, blamed
from ccmatic.contracts import BEFORE_TIMEOUT, Bounds, Execution, Law, NetworkView, StateVariable, WayToFail
from ccmatic.language import Tree
from ccmatic.logic import Truth, equal, every
from ccmatic.logic.solving import SAT, UNKNOWN, UNSAT, Checker, SolverOptions, conflict, script
from ccmatic.networks.traces import Trace
from ccmatic.questions.query import Decides, Query

HOLDS, VIOLATED, UNDECIDED = "holds", "violated", "unknown"

#: The verdict on a candidate of a synthesis if no execution of it satisfies some premise, so that anything would hold.
EMPTY = "without executions"

#: The undecided part of a verdict if no execution of the network is known, so that "holds" might be vacuous.
EXECUTION = "any execution"

#: The largest number of laws that a message names.
LAWS = 3

#: A verifier stops to search within branches if at least this many more searches failed than succeeded.
PATIENCE = 20

#: The number of packet sizes, from earlier counterexamples, with which a search begins.
SIZES = 2

#: The largest number of controllers from whose queries a solver keeps what it has learned. More would fill its memory.
KEPT = 100


@dataclass(frozen=True)
class Verdict:
    """The verdict on a controller: HOLDS, VIOLATED, UNDECIDED, or EMPTY in a synthesis.

    Its `way` is the way to fail that the trace shows, or on which the solver timed out. A counterexample has the
    beliefs that the encoding of `way` includes; `replayer.complete` adds the others.
    """

    controller: Decides
    verdict: str
    seconds: float
    way: str | None = None
    trace: Trace | None = None


class Verifier:
    """A verifier of controllers for one query. It has one incremental solver per way to fail.

    The verifier checks that verdicts are not vacuous. Before the first verdict "holds", and before the first proof that
    a way to fail is impossible, the verifier makes sure that the network has an execution with some initial beliefs. If
    the property has a premise, or if senders use windows, the verifier repeats this check for each controller that
    holds, because not every window is feasible.

    Args:
        query: The query.
        reads: The names of the beliefs that controllers may read.
        options: The SolverOptions. The timeout applies to each controller.
        proved: The names of the ways to fail to skip, because `prove` has ruled them out for this query.
        state: The state variables of the controllers, which are the same for all controllers.
        many: Whether many similar controllers follow each other, as in a synthesis. The solvers then keep what they
            learn from each controller. Counterexamples depend on the earlier controllers, but verdicts stay the same,
            except that a controller without executions gets the verdict EMPTY.

    Raises:
        InputError: If the property has no way to fail. The methods also raise it if the network has no execution, or
            the controller has none and gets no verdict EMPTY; the message names laws that contradict each other.
    """

    @blamed()
    def __init__(
        self,
        query: Query,
        reads: Collection[str],
        options: SolverOptions = SolverOptions(),
        proved: Collection[str] = (),
        state: Sequence[StateVariable] = (),
        many: bool = False,
    ) -> None:
        self.query, self.reads = query, frozenset(reads)
        self._clock = Clock.of(options.timeout)
        self._options = options.with_clock(self._clock)
        ways = list(query.property.ways_to_fail(query.model, query.buffer))
        if not ways:
            raise InputError(f"the property {query.property.name} has no way to fail; expected at least one")
        left = [way for way in ways if way.name not in proved]
        self._state, self._many = state, many
        self._parts = [Part(query, way, self._options, () if way.any_rates else reads, state, many) for way in left]
        self._answers_at_any_rates: dict[str, str] = {}
        self._barren = set[Hashable]()
        self._refuted = 0
        self._execution_exists = False
        self._satisfiable = set[str]()

    @blamed()
    def verify(self, controller: Decides) -> Verdict:
        begin = monotonic()
        controllers.require_order(controller, self.query.jitter)
        undecided = None
        with self._clock.question():
            for part in self._parts:
                answer = self._answer(part, controller)
                if answer == SAT:
                    self._ask_first(part)
                    self._execution_exists = self._execution_exists or not part.way.any_rates
                    return Verdict(controller, VIOLATED, monotonic() - begin, part.way.name, part.trace)
                if answer == UNKNOWN:
                    undecided = part.way.name
            verdict = UNDECIDED if undecided else self._unless_empty(controller)
        timed_out = undecided or (EXECUTION if verdict == UNDECIDED else None)
        return Verdict(controller, verdict, monotonic() - begin, timed_out)

    @blamed()
    def refute_branch(self, controller: controllers.Controller) -> Verdict | None:
        """Search for a counterexample in which the controller stays in one of its branches; None if none is found.

        Such a counterexample also breaks every controller that has the same branch, whatever its other branches are. A
        synthesis therefore asks for it first. The verifier remembers branches without such a counterexample. It stops
        these searches if they mostly fail.
        """
        begin = monotonic()
        # A counterexample for all rates ends a search, so it has to be asked for before those of branches.
        if any(part.way.any_rates for part in self._parts) or len(self._barren) >= self._refuted + PATIENCE:
            return None
        with suppress(OutOfTime), self._clock.question():
            for tests, branch in controller.branches():
                for part in self._parts:
                    key = part.way.name, tests, branch
                    answer = UNSAT if key in self._barren else part.ask(controller, tests)
                    if answer == SAT:
                        self._refuted += 1
                        self._ask_first(part)
                        return Verdict(controller, VIOLATED, monotonic() - begin, part.way.name, part.trace)
                    if answer == UNSAT:
                        self._barren.add(key)
        return None

    @blamed()
    def prove(self) -> list[str]:
        """Return the names of the ways to fail that are impossible, whatever rates a controller chooses.

        An OutOfTime before the query is encoded says that no controller could get a verdict either.
        """
        anyones = [part for part in self._parts if part.way.any_rates]
        ruled_out = [part.way.name for part in anyones if self._ask(part, None) == UNSAT]
        return ruled_out if ruled_out and self._exists() else []

    def _unless_empty(self, controller: Decides) -> str:
        """Return HOLDS if executions of the controller satisfy each premise; UNDECIDED if the solver timed out.

        If no execution of the controller satisfies some premise, return EMPTY in a synthesis, and otherwise raise
        InputError. A synthesis raises it, too, if no execution of any sender does.
        """
        ways: list[WayToFail | None] = [part.way for part in self._parts if part.way.premise]
        if not ways and not self.query.model.windows:
            return HOLDS if self._exists() else UNDECIDED
        for way in ways or [None]:
            answer = self._find_execution(controller, way)
            if answer == UNSAT and self._many:
                self._has_execution(way)
                return EMPTY
            if answer == UNSAT:
                raise self._contradiction(controller, way)
            if answer == UNKNOWN:
                return UNDECIDED
        return HOLDS

    def _exists(self) -> bool:
        self._execution_exists = self._execution_exists or self._has_execution()
        return self._execution_exists

    def _has_execution(self, way: WayToFail | None = None) -> bool:
        """Return whether the solver found an execution of any rates in time. If none exists, raise InputError."""
        name = way.name if way else EXECUTION
        if name not in self._satisfiable:
            answer = self._find_execution(None, way)
            if answer == UNSAT:
                raise self._contradiction(None, way)
            if answer == UNKNOWN:
                return False
            self._satisfiable.add(name)
        return True

    @cached_property
    def _whole(self) -> "Part":
        """A Part whose way to fail is any execution.

        It is necessary only if a way to fail requires constant bounds, but the bounds of executions cannot stay
        constant.
        """
        bounds = {bound.name for bound in self.query.model.bounds()}
        return Part(self.query, WayToFail(EXECUTION, lambda x: True), self._options, self.reads | bounds, self._state)

    def _find_execution(self, controller: Decides | None, way: WayToFail | None) -> str:
        """Search the existing encodings for an execution that satisfies the premise of a way, if one is given."""
        answer = UNKNOWN
        try:
            with self._clock.question():
                for part in (*(part for part in self._parts if not part.way.any_rates), self._whole):
                    answer = part.execution(controller, way.premise if way else None)
                    if answer == SAT:
                        part.replays(self.query)
                        break
        except OutOfTime:
            return UNKNOWN
        return answer

    def _contradiction(self, controller: Decides | None, way: WayToFail | None) -> InputError:
        what = f"execution of {controller.name}" if controller else "execution"
        return self._whole.contradiction(what, controller, _premises(way, self._whole.x) if way else {})

    def _ask_first(self, part: "Part") -> None:
        """Move a Part to the front, as it often refutes the next controller, too. Parts of any rates stay first."""
        self._parts.remove(part)
        self._parts.append(part)
        self._parts.sort(key=lambda other: (not other.way.any_rates, other is not part))

    def part(self, name: str) -> "Part":
        return next(part for part in self._parts if part.way.name == name)

    @blamed()
    def script(self, controller: Decides) -> str:
        """Return the solver queries about a controller as SMT-LIB 2. It holds if and only if every answer is unsat."""
        controllers.require_order(controller, self.query.jitter)
        return "".join(part.script(controller) for part in self._parts)

    @blamed()
    def questions(self, controller: Decides) -> dict[str, list[Truth]]:
        """Return the conditions of each way to fail. The controller holds if and only if none has a solution."""
        return {part.way.name: part.question(None if part.way.any_rates else controller) for part in self._parts}

    def _answer(self, part: "Part", controller: Decides) -> str:
        """Check one Part. A Part that does not depend on the controller is checked only once."""
        try:
            if not part.way.any_rates:
                return self._ask(part, controller)
            if part.way.name not in self._answers_at_any_rates:
                self._answers_at_any_rates[part.way.name] = self._ask(part, None)
            return self._answers_at_any_rates[part.way.name]
        except OutOfTime:
            return UNKNOWN

    def _ask(self, part: "Part", controller: Decides | None) -> str:
        with self._clock.question():
            return part.ask(controller)


class Part:
    """The solver's query for one way to fail. The network stays asserted, while controllers come and go.

    A controller None stands for any rates. Whatever encodes may raise OutOfTime.
    """

    def __init__(
        self,
        query: Query,
        way: WayToFail,
        options: SolverOptions,
        reads: Collection[str],
        state: Sequence[StateVariable] = (),
        many: bool = False,
    ) -> None:
        self.query, self.way, self._state = query, way, state
        self._many, self._kept = many, 0
        self._sizes: list[Fraction] = []
        self.reads = {*way.reads, *reads, *(belief.name for belief in query.model.true_states())}
        self.trace: Trace | None = None
        self._checker: Checker | None = None
        self._chosen: tuple[Decides | None, Truth] | None = None
        self._options = options

    @cached_property
    def x(self) -> Execution:
        return self.query.execution(self.way.bounds, self._state)

    @property
    def checker(self) -> Checker:
        """The solver, which is created at first use."""
        if self._checker is not None:
            return self._checker
        checker = Checker(self._options)
        for law in self.laws():
            checker.add(law.formula)
        return self._go(checker)

    def _go(self, checker: Checker) -> Checker:
        """Assert the conditions of this way to fail in a separate scope, and return the checker."""
        checker.push()
        for condition in self._way():
            checker.add(condition)
        # If time runs out above, no later query may use the incomplete solver.
        self._checker = checker
        return checker

    def execution(
        self, controller: Decides | None = None, premise: Callable[[NetworkView], Truth] | None = None
    ) -> str:
        """Search for any trace that satisfies the premise, also one that does not fail. `self.trace` has it."""
        # While `_checker` is unset, a timeout below makes the next query build a new solver instead of using an
        # incomplete one.
        checker, self._checker = self.checker, None
        checker.pop()
        checker.push()
        checker.add(self.choices(controller))
        checker.add(premise(self.x) if premise else True)
        answer = checker.check()
        self.trace = self.read_trace(checker.value, controller) if answer == SAT else None
        checker.pop()
        self._go(checker)
        return answer

    def replays(self, query: Query) -> None:
        """Raise InputError if the last trace violates laws, whose meaning must differ between numbers and unknowns."""
        if self.trace is None:
            raise ValueError("the part has no trace")
        faults = replay.check_trace(query, self.trace).faults
        if faults:
            raise InputError(f"a solver's execution breaks laws in its replay: {', '.join(faults)}")

    def contradiction(self, what: str, controller: Decides | None, given: Mapping[str, Truth]) -> InputError:
        """Return an InputError that explains why no trace of the controller satisfies the given conditions.

        The message names conditions and laws that contradict each other. Each of them is necessary for the
        contradiction, unless the time is over. `what` is a noun phrase for the traces, in the singular.
        """
        laws, sender = list(self.laws()), choices(self.x, controller)
        indices = conflict([*(law.formula for law in laws), sender, *given.values()], Clock.of(self._options.timeout))
        conditions = [name for index, name in enumerate(given, len(laws) + 1) if index in indices]
        first = {laws[index].name: str(laws[index]) for index in reversed(indices) if index < len(laws)}
        names = list(first.values())[::-1]
        others = ["the controller"] if len(laws) in indices else []
        others += [f"the network's law{'s' * (len(names) > 1)} {_listed(names)}"] if names else []
        query, store = self.query, self.query.model.store
        network = f"{query.network.model_name} with the {store} {query.buffer} and the horizon {query.network.steps}"
        meets = f" that meets {_listed(conditions)}" if conditions else ""
        other = ("another condition" if len(conditions) == 1 else "other conditions") if conditions else ""
        expected = f"; expected {other}" if conditions else ""
        conflicting = f"in conflict{' with that' if conditions and others else ''}: {_listed(others or conditions)}"
        return InputError(f"{network} has no {what}{meets}, so that anything would hold; {conflicting}{expected}")

    def ask(self, controller: Decides | None, tests: tuple[tuple[Tree, bool], ...] = ()) -> str:
        """Search for a trace that fails in this way; `self.trace` has it.

        Each of the controller's `tests` has its outcome at every decision in the trace.
        """
        if self._many and controller is not None and not tests:
            return self._ask_keeping(controller)
        self.checker.push()
        try:
            self.enter(controller)
            if tests and isinstance(controller, controllers.Controller):
                self.checker.add(every([controller.stays(flow, tests) for flow in self.x.flows]))
            return self._check(controller)
        finally:
            self.checker.pop()

    def _ask_keeping(self, controller: Decides) -> str:
        """Search as `ask` does, with a solver that keeps what it learns from up to KEPT controllers.

        If MSS is a number, a search takes a fraction of the time. So the search for window senders begins with the
        packet sizes of earlier counterexamples.
        """
        checker = self.checker
        if self._kept == KEPT:
            self._kept, self._checker = 0, None
            checker.pop()
            self._go(checker)
        self._kept += 1
        for size in self._sizes:
            with checker.supposing(every(self.choices(controller), equal(self.x.alpha, size))):
                if self._check(controller) == SAT:
                    self._remember(size)
                    return SAT
        with checker.supposing(self.choices(controller)):
            answer = self._check(controller)
        if answer == SAT and self.trace is not None and self.query.model.windows:
            self._remember(_simple(self.trace.constants["MSS"]))
        return answer

    def _remember(self, size: Fraction) -> None:
        """Put a packet size in front of the others."""
        self._sizes = [size, *(other for other in self._sizes if other != size)][:SIZES]

    def _check(self, controller: Decides | None) -> str:
        answer = self.checker.check()
        self.trace = self.read_trace(self.checker.value, controller) if answer == SAT else None
        return answer

    def question(self, controller: Decides | None) -> list[Truth]:
        """Return the conditions of a trace in which this controller fails in this way."""
        laws = [law.formula for law in self.laws()]
        return [*laws, *self._way(), *([choices(self.x, controller)] if controller else [])]

    def script(self, controller: Decides | None) -> str:
        name = controller.name if controller else "any controller"
        return script(self.question(controller), f"{self.query}\n{name}: {self.way.name}")

    def read_trace(self, value: Callable[[Any], Any], controller: Decides | None) -> Trace:
        """Return the solver's trace, with the beliefs that this part encodes."""
        x = self.x
        model = self.query.model
        unknown = x.beliefs.keys() - ({belief.name for belief in model.beliefs} & model.closure(self.reads))
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

    def choices(self, controller: Decides | None) -> Truth:
        """Return the condition that the senders obey the controller.

        Several questions about one controller follow each other, so the Part keeps the last condition.
        """
        if self._chosen is None or self._chosen[0] is not controller:
            self._chosen = controller, choices(self.x, controller, Clock.of(self._options.timeout))
        return self._chosen[1]

    def enter(self, controller: Decides | None) -> None:
        if controller is not None:
            self.checker.add(self.choices(controller))

    def laws(self, controller: Decides | None = None) -> Iterator[Law]:
        """Return the laws of the network, of the encoded beliefs, and of senders that obey the controller."""
        own = replay.sender_laws(self.x, controller)
        return chain(self.query.laws(self.x), self.query.model.belief_laws(self.x, self.reads), own)

    def _way(self) -> Iterator[Truth]:
        if self.way.bounds is Bounds.HOLD:
            for bound in self.query.model.bounds():
                if bound.name in self.reads:
                    yield from (bound.holds(self.x, self.x.beliefs[bound.name][t]) for t in range(1, self.x.horizon))
        yield self.way.formula(self.x)


def choices(x: Execution, controller: Decides | None, clock: Clock | None = None) -> Truth:
    """Return the condition that the senders obey the controller, which is the conjunction of all their laws.

    Raise InputError if the bounds of a law are not proved, and OutOfTime if the clock's time is over.
    """
    for each in controllers.each_of(controller):
        for R in {flow.R for flow in x.flows}:
            require_bounds(each, R, x.D)
    laws = []
    for law in replay.sender_laws(x, controller):
        Clock.of(clock).left()
        laws.append(law.formula)
    return every(laws)


def _simple(size: Fraction) -> Fraction:
    """Return the fraction with the least denominator that differs from a positive number by at most a tenth of it."""
    near = (Fraction(round(size * denominator), denominator) for denominator in count(1))
    return next(each for each in near if 10 * abs(each - size) <= size)


def _premises(way: WayToFail, x: Execution) -> Mapping[str, Truth]:
    """Return the conditions of the premise of a way to fail, by their names in messages."""
    if way.premises:
        return way.premises(x)
    return {"what is given": way.premise(x)} if way.premise else {}


def _listed(names: Sequence[str]) -> str:
    """Join the first few names, and say how many other names there are."""
    more = [f"{len(names) - LAWS} more"] if len(names) > LAWS else []
    parts = [*names[:LAWS], *more]
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


class Executions:
    """The executions of a controller that fail as a Part describes, encoded once for many queries.

    This object takes over the Part, so the Part must not be used for anything else.
    """

    def __init__(self, part: Part, controller: Decides | None) -> None:
        self.part, self._controller = part, controller

    @cached_property
    def checker(self) -> Checker:
        """The solver, with the conditions of the network and the controller."""
        checker = self.part.checker
        checker.add(self.part.choices(self._controller))
        return checker

    def find(self, *conditions: Truth) -> tuple[str, Trace | None]:
        """Search for an execution that satisfies the conditions. Return the solver's answer, and any trace."""
        checker = self.checker
        with checker.supposing(every(conditions)):
            answer = checker.check()
            return answer, self.part.read_trace(checker.value, self._controller) if answer == SAT else None
