"""Claims that join proofs which follow each other.

Phases: a proof about first steps, and a second proof that begins where the first one ends, as one claim.

The first proof states that each execution from a start P meets Q within N steps, and the second one that each execution
from Q meets R within M steps. They join if each part of an execution of N + M steps that begins within the first N
steps is an execution of the second proof. For this, a solver decides whether the laws of the long execution imply the
laws of the part. They do not if the controller or a belief reads values since the start of an execution.

Join a proof about the first steps with an invariant: from some early step on, a bound holds for ever.

The first proof states that each execution from a start P meets Q within N steps. The invariant is a set of states that
no step leaves. If each execution from P that meets Q is in this set at some step n <= N, it stays there, so the
invariant's claim holds at all steps from n on. The start of the invariant's own proof does not matter.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ccmatic import records
from ccmatic.answers.verification import Part
from ccmatic.base import InputError, counted
from ccmatic.contracts import Law
from ccmatic.logic import Truth, certificates, every, formula, isolated, no
from ccmatic.logic.solving import SAT, UNKNOWN, Checker, SolverOptions
from ccmatic.proving.invariants.claims import Problem
from ccmatic.proving.invariants.first_steps import FirstSteps, has_execution, own_reads
from ccmatic.proving.invariants.forms import Replaced, answer, checker_of
from ccmatic.proving.invariants.lasting import Window
from ccmatic.proving.invariants.saved import Invariant, clauses_of, executions_of
from ccmatic.proving.invariants.transition import derive
from ccmatic.questions import without_history
from ccmatic.questions.query import Query


@dataclass(frozen=True)
class Phases:
    """Proofs about first steps that follow each other, as one claim."""

    #: The first proof, or phases that are joined already.
    first: "FirstSteps | Phases"
    #: The proof whose executions begin where those of `first` end.
    second: FirstSteps
    #: The query of the joined claim: from the start of `first`, the expectation of `second` within the time of both.
    query: Query

    #: What `fault` decides, for people.
    how = "each of these proofs begins where the one before it ends"

    @staticmethod
    def of(first: "FirstSteps | Phases", second: FirstSteps) -> "Phases":
        """Return two phases as one claim. `fault` decides whether the claim is true."""
        require_same(first, second)
        return Phases(first, second, _joined(first.query, second.query))

    @property
    def controller(self) -> Any:
        return self.second.controller

    @property
    def executions(self) -> str:
        return executions_of(self.query)

    @property
    def claim(self) -> str:
        return str(_expectation(self.query))

    @isolated
    def fault(self, options: SolverOptions = SolverOptions()) -> str | None:
        """Return the reason why the two proofs do not imply the joined claim, or None.

        This call does not check the proofs themselves.
        """
        parts = [ExactWindow(each.query, self.controller, options) for each in (self.first, self.second)]
        whole = ExactWindow(self.query, self.controller, options, {name for each in parts for name in each.part.reads})
        met: list[Truth] = []
        for each, last in zip(parts, (0, steps_of(self.first.query)), strict=True):
            for begin in range(last + 1):
                law = whole.breaks(each.laws, begin)
                if law:
                    return self._refused(law, begin)
                met.append(no(whole.moved([each.fails], begin).condition(each.fails)))
        found = answer(whole.checker, *met, whole.fails)
        if found == UNKNOWN:
            return "the solver timed out"
        if found == SAT:
            start = self.second.query.record()["property"]["start"]
            return f"'{_expectation(self.first.query)}' does not imply the start of the next proof, '{start}'"
        return None if has_execution(self.query, self.controller) else "no execution begins like this"

    def _refused(self, law: Law, begin: int) -> str:
        """Return the reason why a part of an execution is no execution of a proof: one of the proof's laws."""
        dated = ", ".join(f"`{name}`" for name in getattr(self.controller, "dated", list)())
        reads = f"; {self.controller.name} reads {dated} since the start" if dated else ""
        return f"executions from step {begin} on may break a law of their proof, {law}{reads}"


def require_same(first: Any, second: Any) -> None:
    if first.controller.source != second.controller.source:
        names = " and ".join(dict.fromkeys((first.controller.name, second.controller.name)))
        raise InputError(f"the proofs are about different controllers ({names}); expected the same text in both")
    networks = [_network(without_history(each.query, each.controller)) for each in (first, second)]
    for part in networks[0]:
        before, after = (each[part] for each in networks)
        if before != after:
            raise InputError(f"the {part} is '{before}' in one proof and '{after}' in the next; expected the same")


def _network(query: Query) -> dict[str, Any]:
    """Return all parts of a query's network except for its horizon, and the further conditions on executions."""
    record = query.record()
    return {"given": record.pop("property")["given"]} | {name: record[name] for name in record if name != "horizon"}


def _expectation(query: Query) -> Any:
    about: Any = query.property
    return about.expectations[0]


def steps_of(query: Query) -> int:
    """Return the number of steps within which an execution should meet the expectation."""
    return int(_expectation(query).by * query.model.round_trip(1))


def _joined(first: Query, second: Query) -> Query:
    """Return the query about the expectation of the second query, from the start of the first one."""
    expectation = replace(_expectation(second), by=_expectation(first).by + _expectation(second).by)
    about: Any = first.property
    joined = replace(first, property=replace(about, what=str(expectation)))
    return joined.on(horizon=max(first.horizon, steps_of(first) + second.horizon))


class ExactWindow(Window):
    """An execution with exactly the laws that a proof about first steps has, and those of further beliefs."""

    def __init__(self, query: Query, controller: Any, options: SolverOptions, reads: Collection[str] = ()) -> None:
        super().__init__(query, controller, query.horizon, query.horizon, query.network.history)
        self._options = options
        [way] = self.query.property.ways_to_fail(self.query.model, self.query.buffer)
        beliefs = {*own_reads(self.query, controller), *reads}
        self.part = Part(self.query, way, options, beliefs, controller.state)

    @cached_property
    def laws(self) -> list[Law]:
        return list(self.part.laws(self.controller))

    @cached_property
    def fails(self) -> Truth:
        """The condition that the execution breaks the expectation of the query."""
        return self.part.way.formula(self.x)

    @cached_property
    def start(self) -> Truth:
        """The condition that the execution begins as the query states."""
        premise = self.part.way.premise
        return premise(self.x) if premise else True

    @cached_property
    def checker(self) -> Checker:
        return checker_of([law.formula for law in self.laws], self._options)

    @cached_property
    def _nodes(self) -> set[Any]:
        same = Replaced({})
        return {formula(same.condition(law.formula)) for law in self.laws}

    def moved(self, conditions: Sequence[Truth], begin: int) -> Replaced:
        """Return the replacement that turns conditions on an execution into those on the part that begins at a step."""
        return Replaced(self.later(conditions, begin))

    def breaks(self, laws: Sequence[Law], begin: int) -> Law | None:
        """Return a law that the part which begins at a step may break, or None."""
        moved = self.moved([law.formula for law in laws], begin)
        for law in laws:
            if formula(moved.condition(law.formula)) not in self._nodes and not self.implies(law.formula, begin):
                return law
        return None


@dataclass(frozen=True)
class Eventually:
    """The claim of an invariant, for ever from a step on that a proof about first steps bounds."""

    first: FirstSteps | Phases
    second: Invariant

    #: What `fault` decides, for people.
    how = "the first steps lead into the states of the invariant"

    @staticmethod
    def of(first: FirstSteps | Phases, second: Invariant) -> "Eventually":
        """Return two proofs as one claim. `fault` decides whether the claim is true."""
        require_same(first, second)
        return Eventually(first, second)

    @property
    def controller(self) -> Any:
        return self.second.controller

    @property
    def executions(self) -> str:
        return executions_of(self.first.query)

    @property
    def claim(self) -> str:
        about: Any = self.first.query.property
        return f"{self.second.claim}, for ever from some step within {about.expectations[0].by} rtt on"

    @isolated
    def fault(self, options: SolverOptions = SolverOptions()) -> str | None:
        """Return the reason why the two proofs do not imply the joined claim, or None.

        This call does not check the proofs themselves.
        """
        try:
            steps = without_history(self.first.query, self.controller)
            problem = Problem(derive(steps, self.controller, self.second.without), self.second.claim)
            clauses = clauses_of(self.second.clauses, problem)
        except InputError as error:
            return error.message
        implications = list(problem.implications(clauses))
        if len(self.second.certificates) != len(implications):
            has = counted(len(self.second.certificates), "certificate")
            return f"the invariant has {has}; expected {len(implications)}"
        for implication, certificate in list(zip(implications, self.second.certificates, strict=True))[1:]:
            outcome = certificates.check_certificate(implication.refuted, records.data(certificate))
            if outcome.fault:
                return f"from the start of the first proof, {implication.name}: {outcome.fault}"
        return self._outside(problem, clauses, options)

    def _outside(self, problem: Problem, clauses: Sequence[Truth], options: SolverOptions) -> str | None:
        """Return the reason why an execution may be outside the invariant at each step up to the last one, or None.

        The invariant describes the state at the step `now` of an execution. At step n + now, it describes the part that
        begins at step n, and the claim also has to hold at the steps of this part before `now`.
        """
        start = self.first.query.network.history
        last = start + steps_of(self.first.query)
        horizon = max(self.first.query.horizon, last + problem.system.now + 2)
        first = ExactWindow(self.first.query, self.controller, options)
        whole = ExactWindow(self.first.query.on(horizon=horizon), self.controller, options)
        # Beliefs about delays read more steps in longer executions. The first proof then says nothing about these.
        met = True if whole.breaks(first.laws, 0) else no(first.fails)
        inside = every(Replaced(problem.at_first).condition(every(list(clauses))), *problem.about.early)
        outside = [no(whole.moved([inside], begin).condition(inside)) for begin in range(start, last + 1)]
        found = answer(whole.checker, whole.start, met, *outside)
        if found == UNKNOWN:
            return "the solver timed out"
        if found == SAT:
            return f"an execution with '{self.first.claim}' may be outside the invariant at each of these steps"
        return None if has_execution(self.first.query, self.controller) else "no execution begins like this"
