"""Searches for controllers: synthesis, runs of synthesis, and envelopes."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from ccmatic import controllers, synthesis
from ccmatic.base import counted, exact
from ccmatic.controllers import Controller, Given, Stateful
from ccmatic.logic import isolated, isolated_steps
from ccmatic.logic.solving import SolverOptions
from ccmatic.questions.query import Asked, Query, load_controller, read_query
from ccmatic.synthesis import CoverReport, Progress, Store, widening
from ccmatic.synthesis.widening import Widening, WideningReport


class Synthesis:
    """A synthesis, which advances while the caller iterates over it.

    Iteration yields a Progress at the beginning and after each decided candidate. The `controller` of a Progress is the
    new solution, or None. `solutions` decides all remaining candidates.
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
        """Decide all remaining candidates, and return every solution, one controller per class."""
        return [now.controller for now in self if now.controller]

    @property
    def now(self) -> Progress | None:
        """The latest Progress; None before the search has begun."""
        return self._made[-1] if self._made else None

    def __repr__(self) -> str:
        now = self.now
        progress = (
            f"{counted(now.solutions, 'solution')}, {counted(now.counterexamples, 'counterexample')}"
            if now
            else "not begun"
        )
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
    """Find a controller that ensures the query's property, in each class of a template that has one.

    Controllers that differ only in the coefficients of constants belong to one class (docs/reference/encoding.md,
    section 9, "Counting"). The other controllers of a solution's class may violate the property.

    Args:
        query: The query.
        template: A name in templates/ or the path of a file, which replaces the query's own template.
        out: A folder for the solutions. When the synthesis is complete, the solutions replace the content of the
            folder. By default, no file is written.
        run: A file in which the search saves its counterexamples and decisions, and from which the same call resumes.
        jobs: The number of processes that verify.
        cluster: The address of a Dask cluster that verifies instead of processes.
        solver: SolverOptions; the timeout is for each candidate.

    Returns:
        The Synthesis.

    Raises:
        InputError: If the template does not fit the model, or the run belongs to another query. Iteration raises it if
            the query has no template.
        Disagreement: If two solvers disagree while the caller iterates over the Synthesis.

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
    """Check that a run misses no class with a solution.

    Each candidate must be broken by a counterexample, be skipped, or belong to the class of a solution. The check
    needs no candidate generator. It needs a solver only for skipped candidates, which it decides again.

    Args:
        run: The run's file.
        verify_solutions: Whether to verify each solution again with the solvers. Otherwise the solutions are trusted.
        allow_code: As in `replay`.
        solver: SolverOptions, for skipped candidates and `verify_solutions`.

    Returns:
        The CoverReport. The field `covered` states whether this is true of every candidate. The field `faults` lists
        recorded events that do not prove their claim.

    Raises:
        InputError: If the file is no run, or the template or a definition of yours has changed since the
            run.
    """
    return synthesis.check_cover(run, allow_code, verify_solutions, solver)


def read_run(run: str | Path) -> tuple[Any, Any]:
    """Read the counterexamples and decisions that a run of synthesis has saved so far.

    Args:
        run: The file that `synthesise` received as its run.

    Returns:
        The run's RunAbout, and its RunEvents in order. An event is a counterexample or a decided candidate.

    Raises:
        InputError: If the file is no run.
    """
    about, events = synthesis.read_run(run)
    return about, events
