"""The search for all maximal envelopes on a grid that hold.

If an envelope holds, every envelope inside it holds, too. A trace that breaks an envelope breaks all envelopes that
allow the trace's rates.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic

import numpy as np

from ccmatic.answers.verification import HOLDS, VIOLATED, Judge, judge_each
from ccmatic.base import last_good_at_once
from ccmatic.base.workers import Team
from ccmatic.logic.solving import SolverOptions
from ccmatic.networks.traces import Trace
from ccmatic.questions.query import Query
from ccmatic.synthesis.widening.grid import End, Grid, Point


@dataclass(frozen=True)
class BreakingTrace:
    """A trace that breaks the envelope at `point` and all wider envelopes."""

    point: Point
    trace: Trace


@dataclass(frozen=True)
class Widening:
    """All maximal envelopes on a grid.

    Attributes:
        query: The query that the envelopes ensure.
        maximal: The points of the maximal envelopes.
        breaking: The traces that break all other envelopes, except undecided ones.
        undecided: The number of envelopes that timed out.
        questions: The number of envelopes that were judged.
        seconds: The time that the search took.
    """

    grid: Grid
    query: Query
    maximal: tuple[Point, ...]
    breaking: tuple[BreakingTrace, ...]
    undecided: int
    questions: int
    seconds: float

    def beyond(self, point: Point) -> Iterator[tuple[End, int | None]]:
        """Yield the ends of an envelope that the grid could move further out.

        Each end comes with the number of a trace that breaks the next wider envelope, or None if no such trace is
        known.
        """
        for end, size in enumerate(self.grid.shape):
            if point[end] + 1 < size:
                wider = _moved(point, end, point[end] + 1)
                numbers = (n for n, breaking in enumerate(self.breaking) if is_inside(breaking.point, wider))
                yield self.grid.ends[end], next(numbers, None)


@dataclass(frozen=True)
class Checkpoint:
    """The results of an earlier search: the points of envelopes that hold, and the traces that break others."""

    points: tuple[Point, ...] = ()
    traces: tuple[Trace, ...] = ()


def widen_grid(
    grid,
    query,
    listener=lambda point, left: None,
    keep=lambda widening: None,
    checkpoint=Checkpoint(),
    jobs=1,
    cluster=None,
    options=SolverOptions(),
) -> Widening:
    """Return the Widening of a controller.

    The maximal envelopes do not depend on the number of jobs; the traces that break other envelopes may.
    """
    with Team(jobs, cluster) as team:
        search = _Search(grid, query, listener, keep, team if jobs > 1 or cluster else None, options)
        search.take(checkpoint)
        while narrowest := search.narrowest():
            for point, holds in zip(narrowest, search.hold(narrowest), strict=True):
                if holds:
                    search.widen(point)
        return search.result()


class _Search:
    """The decided envelopes of a grid: those in `good` hold, and traces break those in `bad`."""

    def __init__(self, grid, query, listener, keep, team, options):
        self._grid, self._query, self._listener, self._keep = grid, query, listener, keep
        self._team, self._options, self._judge = team, options, Judge(query, options)
        self._at_once = team.size if team else 1
        self._breaking, self._questions, self._begun = [], 0, monotonic()
        self._good, self._bad, self._late = (np.zeros(grid.shape, bool) for _ in range(3))

    @property
    def _unknown(self):
        return ~(self._good | self._bad)

    def result(self):
        """Return the Widening so far, with the maximal envelopes among those that are known to hold."""
        points = [tuple(point.tolist()) for point in np.argwhere(self._good)]
        maximal = tuple(point for point in points if not any(self._good[wider] for wider in self._next(point)))
        decided = maximal, tuple(self._breaking), int(self._unknown.sum())
        return Widening(self._grid, self._query, *decided, self._questions, monotonic() - self._begun)

    def _next(self, point):
        for end, size in enumerate(self._grid.shape):
            if point[end] + 1 < size:
                yield _moved(point, end, point[end] + 1)

    def take(self, checkpoint):
        for point in checkpoint.points:
            self._good[inside(point)] = True
        for trace in checkpoint.traces:
            self._break(trace)

    def narrowest(self):
        """Return the narrowest undecided envelopes: at most as many as the search judges at once."""
        left = np.argwhere(self._unknown & ~self._late)
        order = left.sum(axis=1).argsort(kind="stable")[: self._at_once]
        return [tuple(point) for point in left[order].tolist()]

    def widen(self, point):
        """Move each end of an envelope that holds, until the next step breaks the property."""
        for end, size in enumerate(self._grid.shape):
            first = point[end]
            wider = [_moved(point, end, index) for index in range(first, size)]
            steps = last_good_at_once(
                size - first,
                lambda indices: self.hold([wider[i] for i in indices]),  # noqa: B023
                self._at_once,
            )
            point = wider[steps]

    def hold(self, points):
        """Judge the undecided envelopes among the points.

        Then return for each point whether its envelope is known to hold.
        """
        known = self._good | self._bad | self._late
        pending = [point for point in points if not known[point]]
        for point in pending:
            self._listener(point, int((self._unknown & ~self._late).sum()))
        for point, judgement in zip(pending, self._judgements(pending), strict=True):
            self._learn(point, judgement)
        return [bool(self._good[point]) for point in points]

    def _judgements(self, points):
        envelopes = map(self._grid.envelope, points)
        if self._team is None:
            return map(self._judge.judge, envelopes)
        return judge_each(self._team, [(self._query, envelope) for envelope in envelopes], self._options)

    def _learn(self, point, judgement):
        self._questions += 1
        if judgement.verdict == HOLDS:
            self._good[inside(point)] = True
        elif judgement.verdict == VIOLATED:
            self._break(judgement.trace)
        else:
            self._late[as_wide(point)] = True
        self._keep(self.result())

    def _break(self, trace):
        self._breaking.append(BreakingTrace(self._grid.least(trace), trace))
        self._bad[as_wide(self._breaking[-1].point)] = True


def is_inside(narrow, wide):
    return all(a <= b for a, b in zip(narrow, wide, strict=True))


def inside(point):
    """Return the indices of all envelopes inside the envelope at a point."""
    return tuple(slice(i + 1) for i in point)


def as_wide(point):
    """Return the indices of all envelopes that contain the envelope at a point."""
    return tuple(slice(i, None) for i in point)


def _moved(point, end, to):
    return (*point[:end], to, *point[end + 1 :])
