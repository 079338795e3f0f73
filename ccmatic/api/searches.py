"""Searches for controllers: synthesis, its runs, and envelopes."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from ccmatic import controllers, synthesis
from ccmatic.analysis import widening
from ccmatic.analysis.widening import Widening, WideningReport
from ccmatic.api.given import Asked, Given, load_controller, read_query
from ccmatic.base import exact
from ccmatic.controllers import Controller, Stateful
from ccmatic.logic import isolated, isolated_steps
from ccmatic.query import Query
from ccmatic.solving import SolverOptions
from ccmatic.synthesis import CoverReport, Progress, Store


class Synthesis:
    """A synthesis, which advances while it is iterated over.

    Iteration yields a Progress at the beginning and whenever a candidate is decided. The Progress has the new solution
    as its `controller`, or None. `solutions` decides all remaining candidates.
    """

    def __init__(self, query: Query, steps: Iterator[Progress]) -> None:
        self.query = query
        self._left, self._made = steps, list[Progress]()

    def __iter__(self) -> Iterator[Progress]:
        yield from self._made
        for now in self._left:
            self._made.append(now)
            yield now

    @property
    def solutions(self) -> list[Controller | Stateful]:
        """Decide all remaining candidates, and return every solution, one of each class."""
        return [now.controller for now in self if now.controller]

    @property
    def now(self) -> Progress | None:
        """The latest Progress; None before the search has begun."""
        return self._made[-1] if self._made else None

    def __repr__(self) -> str:
        now = self.now
        progress = f"{now.solutions} solutions, {now.counterexamples} counterexamples" if now else "not begun"
        return f"<synthesis of {self.query.name}: {progress}>"


def synthesise(
    query: Asked,
    template: str | None = None,
    out: str | Path | None = None,
    *,
    run: str | Path | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Synthesis:
    """Find every controller of a template that ensures the query's property, one of each class.

    Controllers that differ only in the coefficients of constants are one class (docs/reference/encoding.md, section 9,
    "Counting").

    Args:
        query: The query.
        template: A name in templates/ or a file's path, in place of the query's own template.
        out: A folder for the solutions. Its content is replaced when the synthesis is complete. Default: nothing is
            written.
        run: A file that keeps what the search learns, from which the same call resumes.
        jobs: How many processes verify.
        cluster: The address of a Dask cluster that verifies in place of processes.
        solver: SolverOptions; the timeout is for each candidate.

    Returns:
        The Synthesis.

    Raises:
        InputError: If the template does not fit the model, or the run belongs to another query. While the Synthesis is
            iterated over: there is no template.
        Disagreement: Two solvers disagree, while the Synthesis is iterated over.

    Examples:
        >>> for now in cm.synthesise(query, template="two_branches"):
        ...     print(now.left, now.controller)
    """
    query = read_query(query).searching(template) if template else read_query(query)
    store = Store(run, query) if run else None
    steps = synthesis.synthesise(query, jobs, cluster, store, options=solver)
    if out is not None:
        steps = synthesis.written(steps, synthesis.Folder(out, query))
    return Synthesis(query, isolated_steps(steps))


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
    told: Callable[[widening.Point, int], None] = lambda point, left: None,
    solver: SolverOptions = SolverOptions(),
) -> Widening:
    """Find all maximal envelopes around a controller that ensure a query's property.

    An envelope gives each rate a lower and an upper end. Both begin at the controller's rate. The lower end may be
    multiplied by 1, 1 - step, … 0, the upper end by 1, 1 + step, … most. If the controller itself breaks the property,
    there is no envelope.

    Args:
        controller: The controller.
        query: The query.
        out: A folder for envelopes and traces, from which the same call resumes. Default: nothing is written.
        step: The step of the factors.
        most: The largest factor of an upper end.
        jobs: How many processes decide envelopes, one envelope each.
        cluster: The address of a Dask cluster that decides in place of processes.
        told: Receives each envelope before it is decided, and the number of undecided envelopes.
        solver: SolverOptions; the timeout is for each envelope.

    Returns:
        The Widening.

    Raises:
        InputError: If the controller has no such envelopes, or too many.
        Disagreement: Two solvers disagree.

    Examples:
        >>> cm.widen("cc_qdel", cm.load_query("g1_t5"), step="1/4").maximal
    """
    query = read_query(query)
    grid = widening.Grid(load_controller(controller, query), query.units(), exact(step), exact(most))
    controllers.require_order(grid.controller, query.jitter)
    if out is None:
        return widening.widen(grid, query, told, jobs=jobs, cluster=cluster, options=solver)
    written: Widening = widening.widen_to(out, grid, query, told, jobs, cluster, options=solver)
    return written


@isolated
def check_widening(
    folder: str | Path,
    *,
    verify_envelopes: bool = False,
    allow_code: bool = False,
    solver: SolverOptions = SolverOptions(),
) -> WideningReport:
    """Check that a folder of `widen` has all maximal envelopes.

    The check replays the traces of the folder. Each trace must break every envelope that it excludes. No envelope may
    remain undecided.

    Args:
        folder: The folder.
        verify_envelopes: Verify each envelope again. Otherwise the envelopes are trusted to hold.
        allow_code: Run the files that the query names. Otherwise only shipped definitions are accepted.
        solver: SolverOptions; the timeout is for each envelope.

    Returns:
        The WideningReport.

    Raises:
        InputError: If the folder was not written by `widen`.
        Disagreement: Two solvers disagree.
    """
    options = solver if verify_envelopes else None
    return widening.check_widening(folder, allow_code, options)


@isolated
def check_cover(
    run: str | Path,
    *,
    verify_solutions: bool = False,
    allow_code: bool = False,
    solver: SolverOptions = SolverOptions(),
) -> CoverReport:
    """Check that the counterexamples and solutions in a run's file decide every candidate.

    The check needs neither generator nor solver.

    Args:
        run: The run's file.
        verify_solutions: Verify each solution again with the solvers. Otherwise the solutions are trusted.
        allow_code: As in `replay`.
        solver: SolverOptions, for `verify_solutions`.

    Returns:
        The CoverReport. Its `covered` tells whether every candidate is decided, and its `faults` list the events that
        do not show what they claim.

    Raises:
        InputError: If the file is no run, or the template has changed since.
    """
    options = solver if verify_solutions else None
    return synthesis.check_cover(run, allow_code, options)


def read_run(run: str | Path) -> tuple[Any, Any]:
    """Read what a run of synthesis has learned so far.

    Args:
        run: The file that `synthesise` received as its run.

    Returns:
        The run's RunAbout, and its RunEvents in order: counterexamples and decided candidates.

    Raises:
        InputError: If the file is no run.
    """
    about, events = synthesis.read_run(run)
    return about, events
