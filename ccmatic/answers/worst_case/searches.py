"""The worst values of quantities and of questions, found by this process, or by others, possibly on other machines."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ccmatic import controllers
from ccmatic.answers.verification import report_on
from ccmatic.answers.worst_case.edge import NoExecution, WorstCase, search
from ccmatic.base import InputError, exact, shown
from ccmatic.base.workers import Team
from ccmatic.controllers import ControllerText, Given
from ccmatic.logic import isolated
from ccmatic.logic.solving import SolverOptions
from ccmatic.questions import Question
from ccmatic.questions import query as queries
from ccmatic.questions.query import Network


@isolated
def worst(
    controller: Given | Sequence[Given] | Question,
    network: Network | None = None,
    of: str = "utilisation",
    *,
    start: str = "any",
    given: str = "",
    period: int | None = None,
    at: Fraction | int | str | None = None,
    low: Fraction | int | str | None = None,
    high: Fraction | int | str | None = None,
    resolution: Fraction | int | str | None = None,
    told: Callable[[Fraction], None] = lambda x: None,
    solver: SolverOptions = SolverOptions(),
) -> WorstCase:
    """Find the worst value that a network can force on a controller, to an edge.

    The solver proves one side of the edge, and a trace shows the other. Packets are bounded as in `verify`.

    Args:
        controller: The controller, or one for each flow of the network. This argument may also be a Question from
            `ask`. The Question then sets the network, the quantity and the start. The amount in the Question is one of
            the decided values.
        network: The network.
        of: The quantity: `utilisation`, `loss` (per R_m), `queue`, `delay` or `window`. With several flows also
            `share`, the smallest share of the served bytes that a flow gets. With two flows also `jain`, Jain's index
            for that share. A condition on x is possible as well (docs/reference/worst.md).
        start: The start of executions: `any`, or `empty`, which means that the queue is empty and no packet has been
            lost.
        given: If given, only executions that satisfy this condition count.
        period: If given, only executions that repeat after this many steps, and so may go on for ever, count. The
            network's horizon is then at least 2·period + 1.
        at: If given, the only x to decide. Otherwise x is searched from low to high, up to the resolution.
        low: The lower end of the search.
        high: The upper end of the search.
        resolution: The largest distance between the proved bound and the value that a trace reaches.
        told: A function that is called with each x before the x is decided.
        solver: SolverOptions; the timeout is for each x.

    Returns:
        The WorstCase, with the proved bound, the worst value that was found, and a trace that shows this value.

    Raises:
        InputError: If a text cannot be read, or if no execution satisfies the conditions.
        Disagreement: Two solvers disagree.

    Examples:
        >>> cm.worst("copa", cm.Network("ccac2021", buffer="infinite", horizon=13), period=6).some
    """
    among = {"at": at, "low": low, "high": high, "resolution": resolution}
    if isinstance(controller, Question):
        return next(worst_all([controller], **among, told=told, solver=solver))
    if not isinstance(network, Network):
        raise InputError(f"{shown(network)} is no network; expected a Network, such as Network('ccac', 'any', 11)")
    about = {"start": start, "given": given, "period": period, "listener": told}
    return search(controller, network, of, **about, **among, options=solver)


def worst_all(
    asked: Sequence[Question],
    *,
    at: Fraction | int | str | None = None,
    low: Fraction | int | str | None = None,
    high: Fraction | int | str | None = None,
    resolution: Fraction | int | str | None = None,
    told: Callable[[Fraction], None] = lambda x: None,
    jobs: int = 1,
    cluster: str | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Iterator[WorstCase]:
    """Find the worst value of each question's expectation, as `worst` does.

    Args:
        asked: The Questions that `ask` returned.
        at: As in `worst`, in the unit of each expectation.
        low: The lower end of the search, in the unit of each expectation.
        high: The upper end of the search, in the unit of each expectation.
        resolution: The largest distance between the two sides of an edge value, in the unit of each expectation.
        told: A function that is called with each x before the x is decided, if this process does the work.
        jobs: The number of processes that search. The edge values do not depend on this number; traces may.
        cluster: The address of a Dask cluster that searches instead of processes.
        solver: SolverOptions; the timeout is for each x.

    Returns:
        An iterator over the WorstCase of each question, in the order of the questions. Each step of the iterator does
        one search.
    """
    among = {"at": at, "low": low, "high": high, "resolution": resolution}
    return _searches(asked, among, told, jobs, cluster, solver)


def _searches(
    questions: Sequence[Question],
    among: dict[str, Any],
    listener: Callable[[Fraction], None],
    jobs: int,
    cluster: str | None,
    options: SolverOptions,
) -> Iterator[WorstCase]:
    searches = [_arguments(question, among) for question in questions]
    if jobs == 1 and cluster is None:
        find = isolated(search)
        results = (
            find(question.controller, question.query.network, listener=listener, options=options, **arguments)
            for question, arguments in zip(questions, searches, strict=True)
        )
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


def _side_by_side(
    questions: Sequence[Question],
    searches: Sequence[dict[str, Any]],
    jobs: int,
    cluster: str | None,
    options: SolverOptions,
) -> Iterator[WorstCase]:
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
    """Return the WorstCase for a controller's text, without what processes cannot exchange: controller and report."""
    query = queries.from_record(record, allow_code=True)
    worst = search(query.controller(texts), query.network, options=options, **arguments)
    return replace(worst, controller=None, report=None)  # type: ignore[arg-type]
