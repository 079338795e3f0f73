"""The worst cases of several questions. Other processes and machines do the searches."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ccmatic import controllers
from ccmatic.answers.verification import report_on
from ccmatic.answers.worst_case.edge import NoExecution, WorstCase, search
from ccmatic.base import exact
from ccmatic.base.workers import Team
from ccmatic.controllers import ControllerText
from ccmatic.logic import isolated
from ccmatic.logic.solving import SolverOptions
from ccmatic.questions import Question
from ccmatic.questions import query as queries


def search_each(
    questions: Sequence[Question],
    among: dict[str, Any],
    listener: Callable[[Fraction], None],
    jobs: int = 1,
    cluster: str | None = None,
    options: SolverOptions = SolverOptions(),
) -> Iterator[WorstCase]:
    """Yield the WorstCase of each question's expectation, in the order of the questions.

    Args:
        questions: The Questions.
        among: The arguments `at`, `low`, `high` and `resolution` of `search`, in the unit of each expectation.
        listener: A function that is called with each x before the solver decides the x, if this process does the work.
        jobs: The number of processes that search.
        cluster: The address of a Dask cluster that searches instead of processes.
        options: SolverOptions; the timeout is for each x.

    Raises:
        InputError: If an expectation has no amount, or the network of a question has no execution.
        Unsound: If a worker's trace does not pass the replay in this process.
    """
    searches = [_arguments(question, among) for question in questions]
    if jobs == 1 and cluster is None:
        results = (_search(*each, listener, options) for each in zip(questions, searches, strict=True))
    else:
        results = _side_by_side(questions, searches, min(jobs, len(questions)), cluster, options)
    for question in questions:
        try:
            with question.defaults_named():
                worst = next(results)
        except NoExecution:
            raise NoExecution(_no_execution(question)) from None
        yield question.on_path(worst.in_units(question.scale, question.expectation.comparison.written[0]))


def _no_execution(question: Question) -> str:
    """Return the message that a question is about no execution."""
    conditions = " and ".join(map(str, question.expectation.conditions))
    during = f" that meets 'while {conditions}' at any step" if conditions else ""
    what = f"there is no execution of {question.controller.name} {question.where}{during}, so there is no worst value"
    return f"{what}; expected another start or period{', or other conditions' if conditions else ''}"


@isolated
def _arguments(question: Question, among: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `search` for a question's expectation, except its controller and network."""
    quantity, given = question.edge()
    scaled = {name: None if text is None else exact(text) * question.scale for name, text in among.items()}
    also = () if among["at"] is not None else (question.amount * question.scale,)
    period = question.query.property.period
    return {"of": quantity, "given": "; ".join(given), "period": period, "also": also, **scaled}


@isolated
def _search(
    question: Question, arguments: dict[str, Any], listener: Callable[[Fraction], None], options: SolverOptions
) -> WorstCase:
    network = question.query.network
    return search(question.controller, network, listener=listener, options=options, **arguments)


def _side_by_side(
    questions: Sequence[Question],
    searches: Sequence[dict[str, Any]],
    jobs: int,
    cluster: str | None,
    options: SolverOptions,
) -> Iterator[WorstCase]:
    """Yield the results of `search` from other processes or machines."""
    tasks = [
        (question.query.record(), controllers.texts_of(question.controller), arguments, options)
        for question, arguments in zip(questions, searches, strict=True)
    ]
    with Team(jobs, cluster) as team:
        for question, worst in zip(questions, team.each(_search_there, tasks), strict=True):
            report = report_on(worst.trace, question.controller.name) if worst.trace else None
            yield replace(worst, controller=question.controller, report=report)


@isolated
def _search_there(
    record: dict[str, Any], texts: list[ControllerText], arguments: dict[str, Any], options: SolverOptions
) -> WorstCase:
    """Return the WorstCase for a controller's text.

    The result has no controller and no report, because processes cannot exchange these objects.
    """
    query = queries.from_record(record, allow_code=True)
    worst = search(query.controller(texts), query.network, options=options, **arguments)
    return replace(worst, controller=None, report=None)  # type: ignore[arg-type]
