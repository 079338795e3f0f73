"""Verdicts with their evidence: a violation has a readable, replayed trace, and "holds" the list of its assumptions."""

import threading
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccmatic import __version__, controllers
from ccmatic.answers.verification import counterexample
from ccmatic.answers.verification.counterexample import report_on
from ccmatic.answers.verification.replayer import Outcome, Report, replay
from ccmatic.answers.verification.verifier import HOLDS, UNDECIDED, VIOLATED, Verdict, Verifier
from ccmatic.base import Clock, markup, memory, write_text
from ccmatic.contracts import Exclusion
from ccmatic.controllers import ControllerText, Given
from ccmatic.logic import Environment
from ccmatic.logic.solving import SolverOptions
from ccmatic.networks.traces import Trace
from ccmatic.questions import Question
from ccmatic.questions import query as queries
from ccmatic.questions.query import (
    Asked,
    Decides,
    Query,
    advice,
    left_out,
    left_out_of_trace,
    load_controller,
    read_query,
)

if TYPE_CHECKING:
    from ccmatic.base.workers import Team


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
    """A judge of controllers for one query, for one thread at a time.

    Controllers that read the same beliefs share the encoding of the network. The timeout is for each controller. The
    memory of the options may answer instead of a solver.
    """

    def __init__(self, query: Query, options: SolverOptions = SolverOptions()) -> None:
        self._clock = Clock.of(options.timeout)
        self.query, self._options = query, options.with_clock(self._clock)
        self._verifiers: dict[Hashable, Verifier] = {}
        self._environment = Environment()

    def judge(self, controller: Decides) -> Judgement:
        """Return the judgement on a controller. If it holds on the published model, judge it on all executions as well.

        Raise InputError if the laws of the network contradict each other, Disagreement if two solvers disagree, and
        Unsound if a solver's trace fails its replay.
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


_kept = threading.local()


def verify(
    controller: Given,
    query: Asked,
    *,
    smt2: str | Path | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Judgement:
    """Verify that a controller ensures a query's property on every trace of its network.

    On networks of window senders, packets are smaller than C·R_m/5, unless a given condition is about `alpha`, the
    packet size.

    Args:
        controller: The controller.
        query: The query.
        smt2: As in `verify_all`.
        solver: SolverOptions.

    Returns:
        The Judgement. Its `verdict` is `holds`, `violated` or `unknown` (timed out). Its `trace` shows a violation. If
        the property holds only on the published model, `unmodelled` is an execution outside this model that breaks the
        property.

    Raises:
        InputError: If the controller does not fit the network, or the network has no execution.
        Disagreement: Two solvers disagree.

    Examples:
        >>> cm.verify("cc_qdel", "g1_t5").trace.plot()
    """
    return next(verify_all([controller], query, smt2=smt2, solver=solver))


def verify_all(
    controllers: Sequence[Given],
    query: Asked,
    *,
    smt2: str | Path | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Iterator[Judgement]:
    """Verify several controllers on one network. All controllers that read the same beliefs share one encoding.

    Args:
        controllers: The controllers. All of them are read before the first one is verified.
        query: The query, as in `verify`.
        smt2: A file to which the formulas for all controllers are written in SMT-LIB 2, before the first verification.
        jobs: The number of processes that verify. The verdicts do not depend on this number; traces of violations may.
        cluster: The address of a Dask cluster that verifies instead of processes.
        solver: SolverOptions; the timeout is for each controller.

    Returns:
        An iterator over a Judgement for each controller, in the order of the controllers. Each step of the iterator
        verifies one controller.

    Raises:
        InputError: If a controller cannot be read, or the file cannot be written. Iteration raises it as `verify` does.
        Disagreement: If two solvers disagree during iteration.
    """
    small = read_query(query).of_small_packets()
    pairs = [(small, load_controller(each, small)) for each in controllers]
    return _judgements(pairs, smt2, jobs, cluster, solver)


def _judgements(
    pairs: Sequence[tuple[Query, Decides]],
    smt2: str | Path | None,
    jobs: int,
    cluster: str | None,
    solver: SolverOptions,
) -> Iterator[Judgement]:
    judges = [Judge(query, options=solver) for query, _ in pairs]
    for number in range(1, len(pairs)):
        if pairs[number][0].record() == pairs[number - 1][0].record():
            judges[number] = judges[number - 1]
    if smt2 is not None:
        script = "".join(judge.script(controller) for judge, (_, controller) in zip(judges, pairs, strict=True))
        write_text(smt2, f"; ccmatic {__version__}\n(set-logic QF_LRA)\n{script}")
    if jobs == 1 and cluster is None:
        return (judge.judge(controller) for judge, (_, controller) in zip(judges, pairs, strict=True))
    return _side_by_side(pairs, min(jobs, len(pairs)), cluster, solver)


def _side_by_side(
    pairs: Sequence[tuple[Query, Decides]], jobs: int, cluster: str | None, solver: SolverOptions
) -> Iterator[Judgement]:
    from ccmatic.base.workers import Team  # takes long to import

    with Team(jobs, cluster) as team:
        yield from judge_each(team, pairs, solver)


def answer(question: Question, *, smt2: str | Path | None = None, solver: SolverOptions = SolverOptions()) -> Judgement:
    """Decide a Question that `ask` returned.

    Args:
        question: The Question.
        smt2: A file to which the solver's formulas are written in SMT-LIB 2.
        solver: SolverOptions.

    Returns:
        The Judgement. Its verdict is `holds`, `violated` or `unknown`.

    Raises:
        InputError: If no execution satisfies the start and the conditions, so that every expectation would hold.
        Disagreement: Two solvers disagree.
    """
    return next(answer_all([question], smt2=smt2, solver=solver))


def answer_all(
    asked: Sequence[Question],
    *,
    smt2: str | Path | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Iterator[Judgement]:
    """Decide several Questions as `answer` does. Consecutive questions about the same network share its encoding.

    Args:
        asked: The Questions.
        smt2: As in `verify_all`.
        jobs: The number of processes that decide.
        cluster: The address of a Dask cluster that decides instead of processes.
        solver: SolverOptions.

    Returns:
        An iterator over a Judgement for each question, in the order of the questions. Each step of the iterator decides
        one.
    """
    pairs = [(each.query.of_small_packets(), each.controller) for each in asked]
    return _with_horizons_named(asked, _judgements(pairs, smt2, jobs, cluster, solver))


def _with_horizons_named(asked: Sequence[Question], judgements: Iterator[Judgement]) -> Iterator[Judgement]:
    """Yield the judgements, with the paths of their questions; errors say whether the horizon is the default."""
    for question in asked:
        with question.defaults_named():
            judgement = next(judgements)
        yield question.on_path(judgement)


def judge_each(
    team: "Team", pairs: Sequence[tuple[Query, Decides]], options: SolverOptions = SolverOptions()
) -> Iterator[Judgement]:
    """Yield the Judgement on each pair of a query and a controller, from workers. Each encodes a network only once.

    Raise Unsound if a worker's trace fails its replay in this process.
    """
    tasks = [(query.record(), controllers.texts_of(controller), options) for query, controller in pairs]
    for (_, controller), judgement in zip(pairs, team.each(_judge, tasks), strict=True):
        trace = judgement.trace or judgement.unmodelled
        report = report_on(trace, controller.name) if trace else None
        yield replace(judgement, controller=controller, report=report)


def _judge(record: dict[str, Any], texts: list[ControllerText], options: SolverOptions) -> Judgement:
    """Return the Judgement on a controller's texts, without what processes cannot exchange: controller and report.

    Each thread keeps its last Judge for its next call.
    """
    key = record, options
    if getattr(_kept, "key", None) != key:
        _kept.judge, _kept.key = Judge(queries.from_record(record, allow_code=True), options), key
    judge: Judge = _kept.judge
    judgement = judge.judge(judge.query.controller(texts))
    return replace(judgement, controller=None, report=None)  # type: ignore[arg-type]
