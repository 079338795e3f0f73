"""A widening that stores its envelopes and traces in a folder, from which a later call resumes."""

from pathlib import Path

from ccmatic.records import EnvelopeLine
from ccmatic.synthesis import Folder
from ccmatic.synthesis.widening.file import ABOUT, envelope_docstring, envelope_name, to_json, trace_name, unfinished
from ccmatic.synthesis.widening.search import widen


def widen_to(path, grid, query, listener, jobs, cluster, options):
    """Widen as `search.widen` does, and write each trace and each maximal envelope to the folder `path`.

    Args:
        path: The folder. While the search runs, its files are in PATH.partial, from which a later call resumes.
        grid: The Grid of envelopes.
        query: The Query that each envelope must ensure.
        listener: A function that is called with each envelope before it is judged, and the number of undecided
            envelopes.
        jobs: As in `search.widen`.
        cluster: As in `search.widen`.
        options: SolverOptions.

    Returns:
        The Widening.
    """
    checkpoint = unfinished(Folder.partial(path), query, grid)
    folder, kept = Folder(path, query), 0

    def keep(widening):
        nonlocal kept
        for number, breaking in enumerate(widening.breaking[kept:], start=kept):
            folder.keep(trace_name(number), breaking.trace.to_json())
        kept = len(widening.breaking)
        folder.keep(ABOUT, to_json(widening))

    widening = widen(grid, query, listener, keep, checkpoint, jobs, cluster, options)
    keep(widening)
    for number, point in enumerate(widening.maximal, start=1):
        folder.keep(f"{envelope_name(widening, number)}.py", grid.source(point, envelope_docstring(widening, number)))
    folder.complete()
    return widening


def lines(widening, path):
    """Yield the records.EnvelopeLine of each maximal envelope of a Widening that was written to a folder."""
    for number, point in enumerate(widening.maximal, start=1):
        name = envelope_name(widening, number)
        wider = {
            f"{end.line}.{end.which}": None if breaking is None else str(Path(path) / trace_name(breaking))
            for end, breaking in widening.beyond(point)
        }
        source = widening.grid.source(point, envelope_docstring(widening, number))
        yield EnvelopeLine(number, name, str(Path(path) / f"{name}.py"), source, wider)
