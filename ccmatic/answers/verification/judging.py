"""Judgements on several queries. Worker processes compute them, possibly on other machines."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ccmatic import controllers
from ccmatic.answers.verification import replayer as replay
from ccmatic.answers.verification.counterexample import Unsound
from ccmatic.answers.verification.judgement import Judge, Judgement
from ccmatic.answers.verification.replayer import Report
from ccmatic.controllers import ControllerText
from ccmatic.logic.solving import SolverOptions
from ccmatic.networks.traces import Trace
from ccmatic.questions import query as queries
from ccmatic.questions.query import Decides, Query

if TYPE_CHECKING:
    from ccmatic.base.workers import Team

_kept = threading.local()


def judge_each(
    team: "Team", pairs: Sequence[tuple[Query, Decides]], options: SolverOptions = SolverOptions()
) -> Iterator[Judgement]:
    """Yield the Judgement on each controller, in the order of the arguments.

    Args:
        team: The Team of workers. Each worker encodes a network only once.
        pairs: Pairs of a Query and a controller, one for each judgement.
        options: The SolverOptions, as in `Judge`.

    Raises:
        InputError: If a query is invalid, as in `Judge.judge`.
        Unsound: If a worker's trace fails its replay in this process.
    """
    tasks = [(query.record(), controllers.texts_of(controller), options) for query, controller in pairs]
    for (_, controller), judgement in zip(pairs, team.each(_judge, tasks), strict=True):
        yield _replayed(replace(judgement, controller=controller))


def _judge(record: dict[str, Any], texts: list[ControllerText], options: SolverOptions) -> Judgement:
    """Return the Judgement on a controller's texts. The Judgement lacks the controller and the report.

    Processes cannot exchange controllers and reports. Each thread keeps its last Judge for its next call.
    """
    key = record, options
    if getattr(_kept, "key", None) != key:
        _kept.judge, _kept.key = Judge(queries.from_record(record, allow_code=True), options), key
    judge: Judge = _kept.judge
    judgement = judge.judge(judge.query.controller(texts))
    return replace(judgement, controller=None, report=None)  # type: ignore[arg-type]


def _replayed(judgement: Judgement) -> Judgement:
    """Replay the trace of a Judgement, and return the Judgement with the report."""
    trace = judgement.trace or judgement.unmodelled
    if trace is None:
        return judgement
    return replace(judgement, report=report_on(trace, judgement.controller.name))


def report_on(trace: Trace, name: str) -> Report:
    """Replay a worker's counterexample for the controller called `name`, and return the report.

    Raises:
        Unsound: If the trace is no counterexample.
    """
    report = replay.replay(trace, allow_code=True)
    if report.outcome is not replay.Outcome.BREAKS:
        raise Unsound(f"a counterexample for {name} fails replay: {report}")
    return report
