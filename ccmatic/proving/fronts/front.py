"""The search for a front: synthesis, a proof for each controller, optional envelopes, and the figure."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ccmatic import synthesis
from ccmatic.base import counted, writable_folder
from ccmatic.logic.solving import SolverOptions
from ccmatic.proving.fronts.figure import draw
from ccmatic.proving.fronts.points import Point, dominated
from ccmatic.proving.fronts.search import envelopes, members, network_of, prove_each, step_of
from ccmatic.questions.query import Asked, read_query


@dataclass(frozen=True)
class Front:
    """The best guarantees on a network.

    Synthesis finds classes of controllers, and proofs give the guarantees of each controller.

    Attributes:
        points: A Point for each controller.
        dominated: The name of each proved point, mapped to the names of the points that dominate it.
        figure: The file of the figure; None if no point is proved.
    """

    points: list
    dominated: dict
    figure: Path | None


def find_front(
    query: Asked,
    out: str | Path | None = None,
    *,
    step: str | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    begun: Callable[[str], None] = lambda what: None,
    decided: Callable[[Point, int, int], None] = lambda point, number, of: None,
    solver: SolverOptions = SolverOptions(),
) -> Front:
    """Find the controllers that no other one dominates, among the classes of a query's template that have a solution.

    The call proves guarantees by shapes for each controller of these classes that no counterexample breaks.

    Args:
        query: The query, with a template.
        out: The folder for the run, proofs and figure, from which the same call resumes. By default, QUERY-front.
        step: If given, also prove the maximal envelopes around the controllers on the front, with this step as in
            `widen`.
        jobs: The number of processes that do the work.
        cluster: The address of a Dask cluster that does the work instead of processes.
        begun: A function that is called with the name of each stage of the work when the stage begins.
        decided: A function that is called with each decided controller, its number, and the number of all controllers.
        solver: SolverOptions.

    Returns:
        The Front, with a point for each controller, and the names of the controllers that dominate it.

    Raises:
        InputError: If no shape fits the query's network.
        Disagreement: Two solvers disagree.
    """
    query, step = read_query(query), step and step_of(step)
    network_of(query)
    folder = writable_folder(Path(out or f"{query.name}-front"))
    run = folder / "synthesis.db"
    begun(f"synthesising for {query.name}")
    if not synthesis.synthesise(query, run=run, jobs=jobs, cluster=cluster, solver=solver).solutions:
        return Front([], {}, None)
    where = {"folder": folder / "proofs", "jobs": jobs, "cluster": cluster, "options": solver}

    def proved(batch):
        begun(f"proving {counted(len(batch), 'controller')}")
        points = {}
        for point in prove_each(query, batch, **where):
            points[point.name] = point
            decided(point, len(points), len(batch))
        return [points[member.name] for member in batch]

    points = proved(members(query, synthesis.read_run(run)[1]))
    if step:
        best = [point for point in points if dominated(points).get(point.name) == []]
        begun(f"widening {counted(len(best), 'controller')}")
        points += proved(list(envelopes(query, best, step, solver)))
    by = dominated(points)
    figure = folder / "front.svg" if by else None
    if figure:
        draw([point for point in points if point.name in by], by, figure)
    return Front(points, by, figure)
