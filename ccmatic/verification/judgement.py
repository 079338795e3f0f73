"""Verdicts for people: each violation with a readable, replayed trace, each "holds" with what it relies on."""

from collections.abc import Hashable
from dataclasses import dataclass, replace

from ccmatic.base import Clock, markup
from ccmatic.contracts import Exclusion
from ccmatic.logic import Environment
from ccmatic.query import Decides, Query, advice, left_out
from ccmatic.solving import SolverOptions
from ccmatic.traces import Trace
from ccmatic.verification import counterexample
from ccmatic.verification.replayer import Report
from ccmatic.verification.verifier import HOLDS, UNDECIDED, VIOLATED, Verdict, Verifier


@dataclass(frozen=True)
class Judgement:
    """What a person learns of a controller.

    verdict, seconds, way: as in `verifier.Verdict`. trace: what breaks it, or None.
    unmodelled: if it holds on the published model, an execution of the network that the model leaves out and that
    breaks the controller, or None. unsure: the search for one ran out of time. report: of the replay of whichever of
    the two there is. left_out: the Exclusions that apply to the question; none where it is violated.
    advice: sentences that say what to ask next.
    """

    controller: Decides
    verdict: str
    seconds: float
    way: str | None
    trace: Trace | None = None
    unmodelled: Trace | None = None
    unsure: bool = False
    report: Report | None = None
    left_out: tuple[Exclusion, ...] = ()
    advice: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the verdict is HOLDS; not so where it is not known."""
        return self.verdict == HOLDS

    def __repr__(self) -> str:
        return f"<{self._headline()}, {self.seconds:.1f} s>"

    def _repr_html_(self) -> str:
        trace = self.trace or self.unmodelled
        return markup.paragraphs([f"{self._headline()}, {self.seconds:.1f} s"]) + (trace._repr_html_() if trace else "")

    def _headline(self) -> str:
        headline = f"{self.controller.name}: {self.verdict}"
        if self.trace:
            return f"{headline}, breaks {'; '.join(self.trace.broken)}"
        if self.unmodelled:
            return f"{headline} on the published model, not on all executions"
        return headline if self.verdict == HOLDS else f"{headline}, undecided: {self.way}"


class Judge:
    """Judges controllers against one query; the network is encoded once for all that read the same beliefs.

    options: SolverOptions; the timeout is for a controller. A Judge is for one thread at a time; two may judge at once,
    each with a Judge of its own.
    """

    def __init__(self, query: Query, options: SolverOptions = SolverOptions()) -> None:
        self._clock = Clock.of(options.timeout)
        self.query, self._options = query, options.with_clock(self._clock)
        self._verifiers: dict[Hashable, Verifier] = {}
        self._environment = Environment()

    def judge(self, controller: Decides) -> Judgement:
        """The judgement on a controller; what holds on the published model is asked again on all executions. Raises
        InputError for laws that conflict, Disagreement, and Unsound if a solver's trace does not pass replay."""
        with self._environment, self._clock.question():
            judgement = self._judge(controller)
        return replace(judgement, advice=advice(self.query, controller, judgement.verdict == UNDECIDED))

    def _judge(self, controller: Decides) -> Judgement:
        verdict, trace, report = self._ask(self.query, controller)
        judgement = Judgement(controller, verdict.verdict, verdict.seconds, verdict.way, trace, report=report)
        windows = self.query.model.windows
        if verdict.verdict != HOLDS or windows or self.query.network.delay != "published":
            left = () if verdict.verdict == VIOLATED else left_out(self.query, controller)
            return replace(judgement, left_out=left)
        executions = self.query.on(delay="executions")
        strict, unmodelled, report = self._ask(executions, controller)
        unsure = strict.verdict not in (HOLDS, VIOLATED)
        seconds = verdict.seconds + strict.seconds
        left = left_out(self.query if unsure else executions, controller)
        return replace(judgement, seconds=seconds, unmodelled=unmodelled, unsure=unsure, report=report, left_out=left)

    def script(self, controller: Decides) -> str:
        """What is asked about a controller, as SMT-LIB 2."""
        with self._environment:
            return self._verifier(self.query, controller).script(controller)

    def _ask(self, query: Query, controller: Decides) -> tuple[Verdict, Trace | None, Report | None]:
        verifier = self._verifier(query, controller)
        verdict = verifier.verify(controller)
        if verdict.verdict != VIOLATED or verdict.way is None:
            return verdict, None, None
        return verdict, *counterexample.for_people(verifier.part(verdict.way), controller)

    def _verifier(self, query: Query, controller: Decides) -> Verifier:
        reads = query.units().keys() & set(controller.parameters)
        key = query.network, frozenset(reads), controller.state
        if key not in self._verifiers:
            self._verifiers[key] = Verifier(query, reads, self._options, state=controller.state)
        return self._verifiers[key]
