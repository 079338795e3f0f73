"""Searches for controllers: synthesis, its runs, and envelopes."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from ccmatic import controllers, synthesis
from ccmatic.analysis import widening
from ccmatic.analysis.widening import Widening, WideningReport
from ccmatic.api.given import Asked, Given, asked, load_controller
from ccmatic.base import exact
from ccmatic.controllers import Controller, Stateful
from ccmatic.logic import isolated, isolated_steps
from ccmatic.query import Query
from ccmatic.solving import SolverOptions
from ccmatic.synthesis import CoverReport, Progress, Store


class Synthesis:
    """One synthesis. Iterate over it for a Progress at first and whenever a candidate is decided, whose `controller` is
    the solution just found, or None; `solutions` decides all that are left."""

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
        """Every solution, one of each class."""
        return [now.controller for now in self if now.controller]

    @property
    def now(self) -> Progress | None:
        """Where the search stands; None before it has begun."""
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
    """Find every controller of a template that ensures the query's property, one of each class: controllers that differ
    in the coefficients of constants only are one class (docs/encoding.md, section 9, "Counting").

    template: a name in templates/ or a file's path, in place of the query's own. out: a folder for the solutions, whose
    content is replaced when the synthesis is complete; None: nothing is written. run: a file that keeps what is
    learned; the same call then goes on. jobs: verify on so many processes; cluster: on the Dask cluster at this address
    instead. The timeout of `solver` is for each candidate. Raises InputError for a template that does not fit the
    model or a run of another query; while it is iterated over, InputError if there is no template, and Disagreement.

        for now in cm.synthesise(query, template="two_branches"):
            print(now.left, now.controller)
    """
    query = asked(query).searching(template) if template else asked(query)
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
    """All maximal envelopes around a controller that ensure a query's property: each of its rates is the least and the
    most of one to begin with; a least rate may be multiplied by 1, 1 - step, … 0, a most rate by 1, 1 + step, … most.

    out: a folder for envelopes and traces, where the same call resumes; None: nothing is written. jobs: how many
    envelopes are decided at once, each on a process; cluster: on the Dask cluster at this address instead. told:
    receives each envelope before it is decided, and how many are undecided. The timeout of `solver` is for each. Where
    the controller itself does not hold, none does. Raises InputError for what has no such envelopes, or too many;
    Disagreement.

        cm.widen("cc_qdel", cm.load_query("g1_t5"), step="1/4").maximal
    """
    query = asked(query)
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
    """Check that a folder of `ccmatic widen` has all maximal envelopes: each trace breaks all that it strikes out, by
    replay, and none is left over.

    verify_envelopes: ask again whether those that hold do; else that is believed. The timeout of `solver` is for each.
    allow_code: run the files that the query names. Raises InputError if the folder is no such one; Disagreement.
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
    """Check that the counterexamples and solutions in a run's file decide every candidate, without generator and
    solver. The CoverReport's `covered` says whether they do, its `faults` which events are not what they say.

    verify_solutions: verify each solution again, by the solvers; else they are believed. allow_code: as in `replay`.
    Raises InputError if the file is no run, or the template has changed since.
    """
    options = solver if verify_solutions else None
    return synthesis.check_cover(run, allow_code, options)


def read_run(run: str | Path) -> tuple[Any, Any]:
    """Read what a run of synthesis has learned so far.

    Args:
        run: The file that `synthesise` was given as its run.

    Returns:
        What the run is about, and its events: counterexamples and decided candidates, in order.

    Raises:
        InputError: The file is no run.
    """
    about, events = synthesis.read_run(run)
    return about, events
