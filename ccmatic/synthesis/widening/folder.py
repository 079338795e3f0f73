"""Widening to a folder, from which a later call resumes, and the check of such a folder.

The check needs a solver only if it verifies envelopes again.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from ccmatic import __version__, records
from ccmatic.answers.verification import HOLDS, VIOLATED, Judge, Outcome, check_trace
from ccmatic.base import InputError, exact, located, parse_json, read_text
from ccmatic.controllers import Given, parse, require_order
from ccmatic.logic import isolated
from ccmatic.logic.solving import SolverOptions
from ccmatic.networks.traces import Trace
from ccmatic.questions import query as queries
from ccmatic.questions.query import Asked, read_query
from ccmatic.records import EnvelopeLine, QueryRecord, WideningFile
from ccmatic.synthesis.solution_files import Folder
from ccmatic.synthesis.widening.grid import Grid, Point
from ccmatic.synthesis.widening.search import Checkpoint, Widening, as_wide, inside, widen_grid

#: The name of the file that describes the other files in the folder.
ABOUT = "widening.json"


def envelope_name(widening, number):
    return f"{widening.grid.controller.name}_wider_{number}"


def trace_name(number):
    return f"breaks_{number + 1}.json"


def envelope_docstring(widening, number):
    around = f"{envelope_name(widening, number)}: around {widening.grid.controller.name}"
    return f"{around}, found by ccmatic {__version__} for the query {widening.query.name}."


def to_json(widening):
    controller = widening.grid.controller
    made = WideningFile(
        made_by=f"ccmatic {__version__}",
        query=records.convert(widening.query.identity(), QueryRecord),
        controller=controller.name,
        source=controller.source,
        step=widening.grid.step,
        most=widening.grid.most,
        envelopes={
            f"{envelope_name(widening, n)}.py": list(point) for n, point in enumerate(widening.maximal, start=1)
        },
        breaking=[trace_name(number) for number in range(len(widening.breaking))],
    )
    return json.dumps(records.data(made), indent=1) + "\n"


def unfinished(folder, query, grid):
    """Return the Checkpoint that an interrupted search left in a folder.

    If the folder has no interrupted search, or a search with another query or grid, the Checkpoint is empty.
    """
    file = Path(folder) / ABOUT
    if not file.exists():
        return Checkpoint()
    with located(str(file)):
        about = records.convert(parse_json(read_text(file)), WideningFile, str(file), "not a whole widening")
        expected = records.convert(query.identity(), QueryRecord), grid.controller.source, grid.step, grid.most
        if (about.query, about.source, about.step, about.most) != expected:
            return Checkpoint()
        traces = tuple(Trace.load(file.with_name(Path(name).name)) for name in about.breaking)
    for trace in traces:
        if check_trace(query, trace).outcome is not Outcome.BREAKS:
            raise InputError("it breaks nothing; remove the folder", str(folder))
    return Checkpoint(tuple(map(tuple, about.envelopes.values())), traces)


@isolated
def widen(
    controller: Given,
    query: Asked,
    out: str | Path | None = None,
    *,
    step: Fraction | int | str = "1/8",
    most: Fraction | int | str = 2,
    jobs: int = 1,
    cluster: str | None = None,
    told: Callable[[Point, int], None] = lambda point, left: None,
    solver: SolverOptions = SolverOptions(),
) -> Widening:
    """Find all maximal envelopes around a controller that ensure a query's property.

    An envelope gives each rate a lower and an upper end. Both ends start at the controller's rate. The lower end may be
    multiplied by 1, 1 - step, … 0; the upper end by 1, 1 + step, … most. If the controller itself breaks the property,
    the controller has no envelope.

    Args:
        controller: The controller.
        query: The query.
        out: A folder for envelopes and traces, from which the same call resumes. By default, no file is written.
        step: The difference between successive factors.
        most: The largest factor of an upper end.
        jobs: The number of processes that decide envelopes; each process decides one envelope at a time.
        cluster: The address of a Dask cluster that decides instead of processes.
        told: A function that is called with each envelope before it is decided, and the number of undecided envelopes.
        solver: SolverOptions; the timeout is for each envelope.

    Returns:
        The Widening, with all maximal envelopes.

    Raises:
        InputError: If the controller has no such envelopes, or too many.
        Disagreement: Two solvers disagree.

    Examples:
        >>> cm.widen("cc_qdel", cm.load_query("g1_t5"), step="1/4").maximal
    """
    query = read_query(query)
    grid = Grid(query.controller(controller), query.units(), exact(step), exact(most))
    require_order(grid.controller, query.jitter)
    if out is None:
        return widen_grid(grid, query, told, jobs=jobs, cluster=cluster, options=solver)
    return _widen_to(out, grid, query, told, jobs, cluster, solver)


def _widen_to(path, grid, query, told, jobs, cluster, options):
    """Write each trace and each maximal envelope to a folder. During the search they are in PATH.partial."""
    checkpoint = unfinished(Folder.partial(path), query, grid)
    folder, kept = Folder(path, query), 0

    def keep(widening):
        nonlocal kept
        for number, breaking in enumerate(widening.breaking[kept:], start=kept):
            folder.keep(trace_name(number), breaking.trace.to_json())
        kept = len(widening.breaking)
        folder.keep(ABOUT, to_json(widening))

    widening = widen_grid(grid, query, told, keep, checkpoint, jobs, cluster, options)
    keep(widening)
    for number, point in enumerate(widening.maximal, start=1):
        folder.keep(f"{envelope_name(widening, number)}.py", grid.source(point, envelope_docstring(widening, number)))
    folder.complete()
    return widening


def lines(widening, path):
    for number, point in enumerate(widening.maximal, start=1):
        name = envelope_name(widening, number)
        wider = {
            f"{end.line}.{end.which}": None if breaking is None else str(Path(path) / trace_name(breaking))
            for end, breaking in widening.beyond(point)
        }
        source = widening.grid.source(point, envelope_docstring(widening, number))
        yield EnvelopeLine(number, name, str(Path(path) / f"{name}.py"), source, wider)


@dataclass(frozen=True)
class WideningReport:
    """The result of checking the folder of a widening.

    Attributes:
        envelopes: The number of envelopes in the folder.
        traces: The number of traces in the folder.
        grid: The number of envelopes on the grid.
        faults: The mistakes in the folder, as sentences.
        uncovered: The Python text of an envelope about which no file decides, or None.
        verified: Whether the envelopes in the folder were verified again.
        undecided: The files of envelopes whose verification timed out.
    """

    envelopes: int
    traces: int
    grid: int
    faults: tuple[str, ...]
    uncovered: str | None
    verified: bool
    undecided: tuple[str, ...] = ()

    @property
    def complete(self):
        """Whether the folder contains all maximal envelopes, provided that its envelopes hold."""
        return not self.faults and self.uncovered is None


@isolated
def check_widening(
    folder: str | Path,
    *,
    verify_envelopes: bool = False,
    allow_code: bool = False,
    solver: SolverOptions = SolverOptions(),
) -> WideningReport:
    """Check that a folder of `widen` contains all maximal envelopes.

    The check replays the traces in the folder. Each trace must break all envelopes that allow its rates. The traces and
    the maximal envelopes must decide every envelope.

    Args:
        folder: The folder that `widen` wrote.
        verify_envelopes: Whether to verify each envelope again. Otherwise the envelopes are trusted to hold.
        allow_code: Whether to run the files that the query names. Otherwise only shipped definitions are accepted.
        solver: SolverOptions; the timeout is for each envelope.

    Returns:
        The WideningReport.

    Raises:
        InputError: If the folder was not written by `widen`.
        Disagreement: Two solvers disagree.
    """
    folder, options = Path(folder), solver if verify_envelopes else None
    file = folder / ABOUT
    with located(str(file)):
        about = records.convert(parse_json(read_text(file)), WideningFile, str(file), "not a whole widening")
        query = queries.from_record(about.query, allow_code)
        query.require_unchanged(about.query)
        controller = parse(about.source, about.controller, str(file), query.units())
        grid = Grid(controller, query.units(), about.step, about.most)
    check = _Check(folder, query, grid)
    for name in about.breaking:
        check.check_file(name, check.breaks)
    for name, point in about.envelopes.items():
        check.check_file(name, lambda path, point=tuple(point): check.holds(path, point, options))
    left = np.argwhere(~(check.good | check.bad))
    uncovered = grid.source(tuple(left[0].tolist()), "nothing decides whether this holds") if len(left) else None
    sizes = len(about.envelopes), len(about.breaking), int(check.good.size)
    return WideningReport(*sizes, tuple(check.faults), uncovered, verify_envelopes, tuple(check.undecided))


class _Check:
    """The envelopes of a grid that the files in a folder decide."""

    def __init__(self, folder, query, grid):
        self._folder, self._query, self._grid = folder, query, grid
        self.good, self.bad = np.zeros(grid.shape, bool), np.zeros(grid.shape, bool)
        self.faults, self.undecided = [], []

    def check_file(self, name, take):
        """Check a file, and record a mistake if the file has one."""
        try:
            if Path(name).name != name:
                raise InputError("expected a file in the folder")
            take(self._folder / name)
        except InputError as error:
            self.faults.append(f"{name}: {error.message}")

    def breaks(self, path):
        """Record a trace. The trace breaks all envelopes that allow its rates."""
        trace = Trace.load(path)
        report = check_trace(self._query, trace)
        if report.outcome is not Outcome.BREAKS:
            raise InputError(f"expected a trace that breaks the property; {report}")
        self.bad[as_wide(self._grid.least(trace))] = True

    def holds(self, path, point, verify):
        """Record an envelope.

        The envelope must equal the grid's envelope at its point. If a trace of the file breaks the envelope, or the
        verification refutes it, the method raises InputError.
        """
        shape = self._grid.shape
        if len(point) != len(shape) or any(not 0 <= i < n for i, n in zip(point, shape, strict=True)):
            raise InputError(f"its point is {list(point)}; expected one of the grid's, {shape}")
        envelope, there = self._grid.envelope(point), self._query.read_controller(read_text(path))
        if envelope.body != there.body:
            raise InputError("it is not the envelope at its point")
        if self.bad[point]:
            raise InputError("a trace breaks it")
        verdict = HOLDS if verify is None else Judge(self._query, verify).judge(envelope).verdict
        if verdict == VIOLATED:
            raise InputError("the verifier finds a trace that breaks it")
        if verdict != HOLDS:
            self.undecided.append(path.name)
        self.good[inside(point)] = True
