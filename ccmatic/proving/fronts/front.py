"""The search for a front: synthesis, a proof for each controller, optional envelopes, and the figure."""

from dataclasses import dataclass
from pathlib import Path

from ccmatic import synthesis
from ccmatic.base import counted, writable_folder
from ccmatic.logic import isolated_steps
from ccmatic.proving.fronts.figure import draw
from ccmatic.proving.fronts.points import dominated
from ccmatic.proving.fronts.search import envelopes, members, network_of, prove_each, step_of


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


def find_front(query, out, step, jobs, cluster, begun, decided, options):
    """Find the Front of a query; see `ccmatic.api.find_front`."""
    step = step and step_of(step)
    network_of(query)
    folder = writable_folder(Path(out or f"{query.name}-front"))
    run = folder / "synthesis.db"
    begun(f"synthesising for {query.name}")
    if not _solved(query, run, jobs, cluster, options):
        return Front([], {}, None)
    where = {"folder": folder / "proofs", "jobs": jobs, "cluster": cluster, "options": options}

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
        points += proved(list(envelopes(query, best, step, options)))
    by = dominated(points)
    figure = folder / "front.svg" if by else None
    if figure:
        draw([point for point in points if point.name in by], by, figure)
    return Front(points, by, figure)


def _solved(query, run, jobs, cluster, options):
    """Return whether the query has a solution. The file `run` keeps all decided candidates."""
    steps = isolated_steps(synthesis.synthesise(query, jobs, cluster, synthesis.Store(run, query), options))
    return [now for now in steps if now.controller]
