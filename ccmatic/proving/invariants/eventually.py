"""Join a proof about the first steps with an invariant: from some early step on, a bound holds for ever.

The first proof states that each execution from a start P meets Q within N steps. The invariant is a set of states that
no step leaves. If each execution from P that meets Q is in this set at some step n <= N, it stays there, so the
invariant's claim holds at all steps from n on. The start of the invariant's own proof does not matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ccmatic import records
from ccmatic.base import InputError, counted
from ccmatic.logic import Truth, certificates, every, isolated, no
from ccmatic.logic.solving import SAT, UNKNOWN, SolverOptions
from ccmatic.proving.invariants.first_steps import FirstSteps, has_execution
from ccmatic.proving.invariants.forms import Replaced
from ccmatic.proving.invariants.phases import ExactWindow, Phases, require_same, steps_of
from ccmatic.proving.invariants.problem import Problem
from ccmatic.proving.invariants.saved import Invariant, clauses_of, executions_of
from ccmatic.proving.invariants.transition import derive
from ccmatic.questions import without_history


@dataclass(frozen=True)
class Eventually:
    """The claim of an invariant, for ever from a step on that a proof about first steps bounds.

    Attributes:
        first: The proof about first steps, or phases that are joined already.
        second: The invariant.
    """

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
        answer = whole.answer([whole.start, met, *outside])
        if answer == UNKNOWN:
            return "the solver timed out"
        if answer == SAT:
            return f"an execution with '{self.first.claim}' may be outside the invariant at each of these steps"
        return None if has_execution(self.first.query, self.controller) else "no execution begins like this"
