"""Evaluation on a grid: the missing runs, the proved bounds that each run breaks, and the figures."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ccmatic.base import InputError
from ccmatic.deployment import exporting
from ccmatic.deployment.emulation import is_flow, request
from ccmatic.evaluation import figures, runs
from ccmatic.networks import traces


class Grid:
    """The runs of senders on the paper's grid of links; `count` of them were missing at first.

    Iterating over a Grid yields a ResultRecord for each missing run. The field `outside` lists the proved bounds that
    the run breaks.
    """

    def __init__(self, senders, out, real, jobs, cluster):
        self._senders, self._where = senders, (jobs, cluster)
        self._scenarios = list((runs.real_grid if real else runs.grid)())
        self._evaluation = runs.Evaluation(out)
        self.count = len(self._evaluation.missing(senders, self._scenarios))

    def __iter__(self):
        for row in self._evaluation.complete(self._senders, self._scenarios, *self._where):
            yield replace(row, outside=list(runs.broken(row)))

    @property
    def is_outside(self):
        return any(any(runs.broken(row)) for row in self._evaluation.rows)

    def draw(self):
        return figures.draw(self._evaluation.rows, self._evaluation.folder)


def evaluate(
    senders: Sequence[str],
    out: str | Path = "evaluation",
    *,
    real: bool = False,
    jobs: int = 1,
    cluster: str | None = None,
) -> Grid:
    """Run exported controllers on the paper's grid of links, and compare them with their proved bounds.

    `for row in cm.evaluate(["cc_qdel"]): print(row.utilisation)` does all missing runs.

    Args:
        senders: The controllers; if `real`, flows as in `emulate`.
        out: The folder for results and figures, from which the same call resumes.
        real: Whether to run on this machine's network stack, on a smaller grid. This needs root and Linux.
        jobs: The number of processes that simulate.
        cluster: The address of a Dask cluster that simulates instead of processes.

    Returns:
        The Grid. Iterating over the Grid yields a ResultRecord for each missing run; then `draw` draws all runs.

    Raises:
        InputError: If a sender cannot be run.
    """
    if real and (jobs > 1 or cluster):
        raise InputError("--real measures time on this machine; expected one job, and no cluster")
    flows = [] if real else [sender for sender in senders if is_flow(sender)]
    if flows:
        problem = f"'{flows[0]}' is a flow of `ccmatic emulate`, expected a controller"
        raise InputError(f"{problem}; did you mean --real?")
    traces.require()
    for sender in senders:
        (request if real else exporting.make)(sender)
    return Grid(senders, out, real, jobs, cluster)
