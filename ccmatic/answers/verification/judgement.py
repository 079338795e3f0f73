"""Verdicts with their evidence.

A violation has a readable, replayed trace, and "holds" has a list of its assumptions.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ccmatic import controllers
from ccmatic.answers.verification import counterexample
from ccmatic.answers.verification.replayer import Outcome, Report, replay
from ccmatic.answers.verification.verifier import HOLDS, UNDECIDED, VIOLATED, Verdict, Verifier
from ccmatic.base import Clock, markup, memory
from ccmatic.contracts import Exclusion
from ccmatic.logic import Environment
from ccmatic.logic.solving import SolverOptions
from ccmatic.networks.traces import Trace
from ccmatic.questions.query import Decides, Query, advice, left_out, left_out_of_trace


@dataclass(frozen=True)
class Judgement:
    """The verdict on a controller, with the evidence.

    Attributes:
        controller: The controller.
        verdict: The verdict, as in `verifier.Verdict`, which also explains the attributes `seconds` and `way`.
        trace: The counterexample, or None.
        unmodelled: A counterexample outside the published model, or None. Such a counterexample is a real execution of
            the network that the published model excludes. It exists only if the controller holds on the published
            model.
        unsure: Whether the search for a counterexample outside the published model timed out.
        report: The Report of the replay of `trace` or `unmodelled`.
        left_out: The Exclusions that apply to the verdict. If the verdict is VIOLATED, only the exclusion
            named `seconds` can apply. If the verdict is UNDECIDED, no exclusion applies.
        advice: Sentences that suggest the next query.
        remembered: Whether the judgement comes from a Memory. `seconds` is then the time of the original verification.
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
    remembered: bool = False

    @property
    def holds(self) -> bool:
        """Whether the verdict is HOLDS. An unknown verdict does not count as HOLDS."""
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
    """A judge of controllers for one query. Controllers that read the same beliefs share the encoding of the network.

    Only one thread at a time may use a Judge. Two threads may judge at once if each has its own Judge.

    Args:
        query: The query.
        options: The SolverOptions. The timeout applies to each controller. Its memory may answer instead of a solver.
    """

    def __init__(self, query: Query, options: SolverOptions = SolverOptions()) -> None:
        self._clock = Clock.of(options.timeout)
        self.query, self._options = query, options.with_clock(self._clock)
        self._verifiers: dict[Hashable, Verifier] = {}
        self._environment = Environment()

    def judge(self, controller: Decides) -> Judgement:
        """Return the judgement on a controller.

        If a controller holds on the published model, the method verifies it again on all executions of the network.

        Raises:
            InputError: If the laws of the network contradict each other.
            Disagreement: If two solvers disagree.
            Unsound: If a solver's trace fails its replay.
        """
        if self._options.memory is None:
            return self._new(controller)
        texts, settings = controllers.texts_of(controller), self._options.settings()
        return self._options.memory.ask(
            lambda: memory.question("verify", self.query.record(), texts, settings),
            lambda: self._new(controller),
            stored,
            lambda data: self._recalled(data, controller),
        )

    def _recalled(self, data: Mapping[str, Any], controller: Decides) -> Judgement | None:
        """Return the stored judgement on a controller, once its trace has passed a replay; otherwise None."""
        with self._environment:
            return recalled(data, controller)

    def _new(self, controller: Decides) -> Judgement:
        with self._environment, self._clock.question():
            judgement = self._judge(controller)
        more = advice(self.query, controller, judgement.verdict == UNDECIDED, self._clock.late)
        return replace(judgement, advice=more)

    def _judge(self, controller: Decides) -> Judgement:
        verdict, trace, report = self._ask(self.query, controller)
        judgement = Judgement(controller, verdict.verdict, verdict.seconds, verdict.way, trace, report=report)
        windows = self.query.model.windows
        if verdict.verdict == UNDECIDED:
            return judgement
        if verdict.verdict != HOLDS or windows or self.query.network.delay != "published":
            violated = verdict.verdict == VIOLATED
            left = left_out_of_trace(controller) if violated else left_out(self.query, controller)
            return replace(judgement, left_out=left)
        executions = self.query.on(delay="executions")
        strict, unmodelled, report = self._ask(executions, controller)
        unsure = strict.verdict not in (HOLDS, VIOLATED)
        seconds = verdict.seconds + strict.seconds
        left = left_out(self.query if unsure else executions, controller)
        return replace(judgement, seconds=seconds, unmodelled=unmodelled, unsure=unsure, report=report, left_out=left)

    def script(self, controller: Decides) -> str:
        """Return the solver queries about a controller as SMT-LIB 2."""
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


def stored(judgement: Judgement) -> dict[str, Any] | None:
    """Return a judgement as data for JSON; None if the solver timed out on a part of the question."""
    if judgement.verdict == UNDECIDED or judgement.unsure:
        return None
    return {
        "verdict": judgement.verdict,
        "seconds": judgement.seconds,
        "way": judgement.way,
        "trace": judgement.trace and judgement.trace.to_json(),
        "unmodelled": judgement.unmodelled and judgement.unmodelled.to_json(),
        "left_out": [[each.name, each.reason] for each in judgement.left_out],
        "advice": list(judgement.advice),
    }


def recalled(data: Mapping[str, Any], controller: Decides) -> Judgement | None:
    """Return the judgement that `stored` described; None if its trace fails the replay."""
    trace, unmodelled = (data[name] and Trace.from_json(data[name]) for name in ("trace", "unmodelled"))
    shown = trace or unmodelled
    report = replay(shown, allow_code=True) if shown else None
    if (data["verdict"] == VIOLATED) != bool(trace) or (report and report.outcome is not Outcome.BREAKS):
        return None
    left = tuple(Exclusion(*each) for each in data["left_out"])
    return Judgement(
        controller,
        data["verdict"],
        data["seconds"],
        data["way"],
        trace,
        unmodelled,
        report=report,
        left_out=left,
        advice=tuple(data["advice"]),
        remembered=True,
    )
