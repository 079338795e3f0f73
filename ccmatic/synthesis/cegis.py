"""Counterexample-guided inductive synthesis (Figure 4 of the paper).

The loop finds a controller that ensures the property of a query, in each class of a template that has one.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from ccmatic.answers.verification import EMPTY, HOLDS, VIOLATED, Verifier
from ccmatic.base import InputError, counted, located
from ccmatic.base.workers import Team
from ccmatic.controllers import Controller, Stateful
from ccmatic.logic import Environment, isolated_steps
from ccmatic.logic.solving import SolverOptions
from ccmatic.questions import query as queries
from ccmatic.questions.query import Asked, Query, read_query
from ccmatic.synthesis.generators import generator
from ccmatic.synthesis.run_file import (
    COUNTEREXAMPLE,
    PROVED,
    SKIPPED,
    SOLUTION,
    UNDECIDED,
    Event,
    Store,
    confirmed,
    named,
)
from ccmatic.synthesis.solution_files import Folder, written

#: The kind of event for each decided verdict.
_KINDS = {HOLDS: SOLUTION, VIOLATED: COUNTEREXAMPLE, EMPTY: SKIPPED}


@dataclass(frozen=True)
class Progress:
    """The state of a search.

    Attributes:
        iterations: The number of candidates decided so far.
        left: The number of candidates that remain; None if the generator does not count them.
        candidates: The number of all candidates of the template.
        counterexamples: The number of counterexamples so far.
        solutions: The solutions so far, one per class of candidates.
        undecided: The candidates on which the solver timed out.
        skipped: The candidates without executions that satisfy what the property assumes.
        seconds: The time since the start of the search, in seconds.
        controller: The new solution of this iteration, or None.
        anyone: Whether a counterexample violates the property for all rates, so that no solution exists.
    """

    iterations: int = 0
    left: int | None = None
    candidates: int = 0
    counterexamples: int = 0
    solutions: int = 0
    undecided: int = 0
    skipped: int = 0
    seconds: float = 0.0
    controller: Controller | Stateful | None = None
    anyone: bool = False


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
    steps = search(query, jobs, cluster, store, solver)
    if out is not None:
        steps = written(steps, Folder(out, query))
    return Synthesis(query, isolated_steps(steps))


def search(query, jobs=1, cluster=None, store=None, options=SolverOptions()):
    """Yield a Progress at the start and after each decided candidate.

    When the iterator ends, each class of candidates is solved, refuted, skipped or undecided. The search resumes from
    the Store of a run and extends it.
    """
    run = _Search(query, store, options)
    yield from run.recall()
    team = Team(jobs, cluster)
    try:
        if run.generator.propose():
            run.prove(team)
        yield from run.run(team, ahead=2 * jobs if cluster else jobs)
    finally:
        team.close()
    if store and not run.now.undecided:
        store.finish()


class _Search:
    def __init__(self, query, store, options):
        self.query, self.store = query, store
        self.template = query.search_space()
        self.generator = generator(query)
        self.holes = self.template.holes()
        self.now = Progress(left=self.generator.left, candidates=self.template.size)
        self.classes = set()
        self.begin = monotonic()
        self.options = options
        self.question = query.record(), *query.read_by_candidates()
        self.proved = set()
        #: The ways to fail that the store has ruled out, and its skipped candidates. The search decides them again.
        self.stored = set()

    def recall(self):
        """Resume from the store: apply its solutions, and its counterexamples after a replay.

        The search decides everything else in the store again, also skipped candidates.
        """
        yield self.now
        for event in self.store.events() if self.store else ():
            with located(str(self.store.path)):
                trace = self._confirmed(event)
            if event.kind == PROVED:
                self.stored.add(event.way)
            elif event.kind == SKIPPED:
                self.stored.add(event.candidate)
            elif event.kind != UNDECIDED:
                yield self._learn(event.kind, self.template.forms(event.candidate), trace)

    def _confirmed(self, event):
        try:
            return confirmed(self.query, event)
        except InputError as error:
            expected = "expected events that replay confirms; remove the file to begin anew"
            raise InputError(f"{named(event)}: {error.message}; {expected}") from None

    def prove(self, team):
        """Rule out ways to fail that do not depend on the controller."""
        team.submit(None, _ruled_out, *self.question, self.options)
        while team:
            for _, ways in team.results():
                self._proved(ways)

    def run(self, team, ahead):
        """Verify candidates until no candidate remains. At most `ahead` candidates are verified at once."""
        proved = tuple(sorted(self.proved))
        while True:
            while len(team) < ahead and (forms := self.generator.propose()):
                # The search strikes out the candidate before its verdict, so that the generator does not propose it
                # twice.
                self.generator.strike(forms)
                name = f"the candidate {', '.join(map(str, forms))}"
                team.submit(forms, _verify, *self.question, self.options, proved, self._source(forms), name)
            if not team:
                return
            for forms, verdict in team.results():
                yield from self._decided(forms, verdict)

    def _proved(self, ways):
        self.proved.update(ways)
        for way in set(ways) - self.stored if self.store else ():
            self.store.add(Event(PROVED, way=way))

    def _source(self, forms):
        return self.template.source(forms, f"Found by ccmatic for {self.query.name}.")

    def _decided(self, forms, verdict):
        kind = _KINDS.get(verdict.verdict, UNDECIDED)
        # Workers verify several candidates at once, so another candidate of the same class may have become a solution
        # meanwhile.
        if kind == SOLUTION and self.template.kind(forms) in self.classes:
            return
        indices = tuple(hole.index(form) for hole, form in zip(self.holes, forms, strict=True))
        if self.store and not (kind == SKIPPED and indices in self.stored):
            trace = verdict.trace.to_json() if verdict.trace else None
            self.store.add(Event(kind, indices, self._source(forms), verdict.way, trace, verdict.seconds))
        yield self._learn(kind, forms, verdict.trace)

    def _learn(self, kind, forms, trace):
        """Strike out the candidates that a result decides, and count the result."""
        now, controller = self.now, None
        if kind == SOLUTION:
            self.generator.strike_class(forms)
            self.classes.add(self.template.kind(forms))
            now = replace(now, solutions=now.solutions + 1)
            name = f"{self.query.name}_{now.solutions}"
            controller = self.query.read_controller(self._source(forms), name)
        elif kind == COUNTEREXAMPLE:
            if trace.controller is None:
                self.generator.strike_all()
            else:
                self.generator.strike_like(trace)
            now = replace(now, counterexamples=now.counterexamples + 1)
        else:
            self.generator.strike(forms)
            now = replace(now, **{kind: getattr(now, kind) + 1})
        self.now = replace(
            now,
            iterations=now.iterations + 1,
            left=self.generator.left,
            seconds=monotonic() - self.begin,
            controller=controller,
            anyone=now.anyone or (kind == COUNTEREXAMPLE and trace.controller is None),
        )
        return self.now


_kept = threading.local()


def _verify(record, reads, sample, options, proved, source, name):
    """Return the verdict on the controller with this source.

    The verdict does not contain the controller, because processes cannot exchange controllers. Each thread keeps the
    verifier of a query for its next call. `sample` is the source of any controller with the same state variables.
    """
    kept = _keep(record, reads, sample, options, proved)
    with kept.environment:
        controller = kept.verifier.query.read_controller(source, name)
        refuted = kept.verifier.refute_branch(controller) if isinstance(controller, Controller) else None
        return replace(refuted or kept.verifier.verify(controller), controller=None)


def _ruled_out(record, reads, sample, options):
    kept = _keep(record, reads, sample, options)
    with kept.environment:
        return kept.verifier.prove()


def _keep(record, reads, sample, options, proved=()):
    """Return the objects that this thread keeps: a verifier, and the environment of the verifier's formulas."""
    key = record, reads, sample, options, proved
    if getattr(_kept, "key", None) != key:
        environment = Environment()
        with environment:
            query = queries.from_record(record, allow_code=True)
            verifier = Verifier(query, reads, options, proved, query.read_controller(sample).state, many=True)
        _kept.environment, _kept.verifier, _kept.key = environment, verifier, key
    return _kept
