"""The verifier: does a controller ensure the query's property on every trace of its network?"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from time import monotonic

from ccmatic.clock import Clock, OutOfTime
from ccmatic.formula import every, formula
from ccmatic.solve import SAT, UNKNOWN, UNSAT, Checker, script
from ccmatic.trace import Trace

HOLDS, VIOLATED, UNDECIDED = "holds", "violated", "unknown"


@dataclass(frozen=True)
class Verdict:
    """verdict: HOLDS, VIOLATED or UNDECIDED. seconds: it took. way: that it fails, or that was not decided.
    trace: as the query for that way encodes it (see `counterexample.complete`), if violated."""

    controller: object
    verdict: str
    seconds: float
    way: str | None = None
    trace: Trace | None = None


class Verifier:
    """Verifies controllers against one query, with one incremental solver for each way to fail.

    reads: the beliefs that the controllers may read. solvers, seed: see `solve.Checker`. timeout: seconds for a
    controller, or a Clock.
    proved: the ways to fail, by name, that need not be asked, as `prove` ruled them out for this query.
    """

    def __init__(self, query, reads, solvers=("z3",), timeout=None, seed=0, proved=()):
        self.query, self.reads = query, frozenset(reads)
        self._clock = Clock.of(timeout)
        self._options = {"solvers": solvers, "timeout": self._clock, "seed": seed}
        ways = query.property.ways_to_fail(query.model, query.buffer)
        left = [way for way in ways if way.name not in proved]
        self._parts = [Part(query, way, self._options, () if way.any_rates else reads) for way in left]
        self._anyones = {}

    def verify(self, controller):
        """The verdict on a controller."""
        begin = monotonic()
        undecided = None
        with self._clock.question():
            for part in self._parts:
                answer = self._answer(part, controller)
                if answer == SAT:
                    self._ask_first(part)
                    return Verdict(controller, VIOLATED, monotonic() - begin, part.way.name, part.trace)
                if answer == UNKNOWN:
                    undecided = part.way.name
        return Verdict(controller, UNDECIDED if undecided else HOLDS, monotonic() - begin, undecided)

    def prove(self):
        """The names of the ways to fail that no controller can go, whatever rates it chooses. Raises OutOfTime where
        the query cannot even be put in time: then no controller's verdict would be known."""
        anyones = [part for part in self._parts if part.way.any_rates]
        return [part.way.name for part in anyones if self._ask(part, None) == UNSAT]

    def _ask_first(self, part):
        """What broke this controller is likely to break the next; what no controller changes stays first."""
        self._parts.remove(part)
        self._parts.append(part)
        self._parts.sort(key=lambda other: (not other.way.any_rates, other is not part))

    def part(self, name):
        """The part for one way to fail, which has the solver and the trace."""
        return next(part for part in self._parts if part.way.name == name)

    def script(self, controller):
        """What is asked about a controller, as SMT-LIB 2: it holds if and only if each answer is unsat."""
        return "".join(part.script(controller) for part in self._parts)

    def questions(self, controller):
        """What is asked about a controller, for each way to fail: it holds if and only if no list of formulas has a
        solution."""
        return {part.way.name: part.question(None if part.way.any_rates else controller) for part in self._parts}

    def _answer(self, part, controller):
        """What is independent of the controller is asked once."""
        try:
            if not part.way.any_rates:
                return self._ask(part, controller)
            if part.way.name not in self._anyones:
                self._anyones[part.way.name] = self._ask(part, None)
            return self._anyones[part.way.name]
        except OutOfTime:
            return UNKNOWN

    def _ask(self, part, controller):
        with self._clock.question():
            return part.ask(controller)


class Part:
    """One way to fail: the network asserted once, a controller pushed and popped."""

    def __init__(self, query, way, options, reads):
        self.query, self.way = query, way
        self.reads = {*way.reads, *reads, *(belief.name for belief in query.model.true_states())}
        self.trace = None
        self._checker = None
        self._options = options

    @cached_property
    def x(self):
        """The unknowns."""
        return self.query.execution(self.way.frozen)

    @property
    def checker(self):
        """The solver, opened when first needed. Raises OutOfTime."""
        if self._checker is None:
            checker = Checker(**self._options)
            for condition in self._network():
                checker.add(condition)
            # Only once it knows the whole network may anything be asked of it.
            self._checker = checker
        return self._checker

    def ask(self, controller):
        """Whether a trace of this controller (of anyone, for None) goes this way; `self.trace` then has it. Raises
        OutOfTime."""
        self.checker.push()
        try:
            self.enter(controller)
            answer = self.checker.check()
            self.trace = self.read(self.checker.value, controller) if answer == SAT else None
        finally:
            self.checker.pop()
        return answer

    def question(self, controller):
        """The formulas that a trace of this controller (of anyone, for None) that goes this way satisfies."""
        conditions = [*self._network(), *([choices(self.x, controller)] if controller else [])]
        return [formula(condition) for condition in conditions]

    def script(self, controller):
        """The question about a controller as SMT-LIB 2."""
        name = controller.name if controller else "any controller"
        return script(self.question(controller), f"{self.query}\n{name}: {self.way.name}")

    def read(self, value, controller):
        """The trace that a solver found, with the beliefs that this part encodes."""
        x = self.x
        unknown = x.beliefs.keys() - {belief.name for belief in self._encoded()}
        stated = {n: column for n, column in x.columns().items() if n.removesuffix("_untimed") not in unknown}
        columns = {name: tuple(map(value, column)) for name, column in stated.items()}
        columns |= {name: getattr(x, name).read(value) for name in self.query.model.measures}
        constants = {"C": Fraction(x.C), "R_m": Fraction(1), "D": Fraction(x.D), "MSS": value(x.alpha)}
        if x.beta is not None:
            constants["beta"] = value(x.beta)
        source = controller.source if controller else None
        return Trace(x.horizon, constants, columns, self.query.record(), source)

    def enter(self, controller):
        """Assert the controller's choices in the current scope."""
        if controller is not None:
            self.checker.add(choices(self.x, controller))

    def _network(self):
        model, x = self.query.model, self.x
        yield from (law.formula for law in chain(self.query.laws(x), model.belief_laws(x, self.reads)))
        if self.way.beliefs_true:
            yield from _true_bounds(model, x, self.reads)
        yield self.way.formula(x)

    def _encoded(self):
        return [belief for belief in self.query.model.beliefs if belief.name in self.query.model.closure(self.reads)]


def choices(x, controller):
    """The sender's law: at each step the controller chooses, by the beliefs of the step before."""
    constants = {"R_m": 1, "D": x.D, "MSS": x.alpha}
    steps = []
    for t in range(1, x.horizon):
        beliefs = {name: column[t - 1] for name, column in x.beliefs.items()}
        steps.append(controller.encode(constants | beliefs, x.r[t], x.alpha))
    return every(steps)


def _true_bounds(model, x, reads):
    for bound in model.bounds():
        if bound.name in reads:
            yield from (bound.holds(x, x.beliefs[bound.name][t]) for t in range(1, x.horizon))
