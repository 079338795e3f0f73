"""Judgements on several questions, on other processes and machines."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ccmatic import query as queries
from ccmatic.query import Decides, Query
from ccmatic.solving import SolverOptions
from ccmatic.verification import replayer as replay
from ccmatic.verification.counterexample import Unsound
from ccmatic.verification.judgement import Judge, Judgement
from ccmatic.workers import Team

_kept = threading.local()


def judge_each(
    team: Team, pairs: Sequence[tuple[Query, Decides]], options: SolverOptions = SolverOptions()
) -> Iterator[Judgement]:
    """Yield the Judgement on each controller, in order.

    Args:
        team: The Team that does the work. Each of its workers encodes a network once.
        pairs: The Query and the controller of each question.
        options: As of `Judge`.

    Raises:
        InputError: As `Judge.judge`.
        Unsound: A worker's trace does not pass replay here.
    """
    tasks = [(query.record(), controller.source, controller.name, options) for query, controller in pairs]
    for (_, controller), judgement in zip(pairs, team.each(_judge, tasks), strict=True):
        yield _replayed(replace(judgement, controller=controller))


def _judge(record: dict[str, Any], source: str, name: str, options: SolverOptions) -> Judgement:
    """The Judgement on a controller's source, without what may not travel between processes: the controller and the
    report. A thread keeps the Judge of a query for the next call."""
    key = record, options
    if getattr(_kept, "key", None) != key:
        _kept.judge, _kept.key = Judge(queries.from_record(record, allow_code=True), options), key
    judge: Judge = _kept.judge
    judgement = judge.judge(judge.query.read_controller(source, name))
    return replace(judgement, controller=None, report=None)  # type: ignore[arg-type]


def _replayed(judgement: Judgement) -> Judgement:
    """A Judgement with the report of the replay of its trace."""
    trace = judgement.trace or judgement.unmodelled
    if trace is None:
        return judgement
    report = replay.replay(trace, allow_code=True)
    if report.outcome is not replay.Outcome.BREAKS:
        raise Unsound(f"a counterexample for {judgement.controller.name} fails replay: {report}")
    return replace(judgement, report=report)
