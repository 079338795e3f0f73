"""The loop of counterexample-guided inductive synthesis (Figure 4 of the paper): every controller of a template
that ensures the query's property."""

from dataclasses import dataclass, replace
from time import monotonic

from ccmatic import controllers
from ccmatic.base import InputError, located
from ccmatic.solving import SolverOptions
from ccmatic.synthesis import candidates, evidence
from ccmatic.synthesis.generators import generator
from ccmatic.synthesis.run_file import COUNTEREXAMPLE, PROVED, SOLUTION, UNDECIDED, Event
from ccmatic.verification import HOLDS, VIOLATED
from ccmatic.workers import Team


@dataclass(frozen=True)
class Progress:
    """Where the search stands: iterations so far, candidates left (None if nobody counts them) and in all,
    counterexamples, solutions (one a class), undecided candidates, seconds. controller: the solution just found.
    anyone: a counterexample breaks the property whatever the rates, so that there is no solution."""

    iterations: int = 0
    left: int | None = None
    candidates: int = 0
    counterexamples: int = 0
    solutions: int = 0
    undecided: int = 0
    seconds: float = 0.0
    controller: controllers.Controller | controllers.Stateful | None = None
    anyone: bool = False


def synthesise(query, jobs=1, cluster=None, store=None, options=SolverOptions()):
    """Yield a Progress at first and whenever a candidate is decided. When it ends, none is left: each class of
    candidates (docs/encoding.md, section 9, "Counting") was a solution, broken or undecided.

    query: a Query. jobs, cluster: where to verify, as of `workers.Team`. store: the Store of a run that goes on, to
    which all that is learned is added; None: nothing is kept. options: SolverOptions.
    Raises InputError if the query has no template, or no execution at all, and Disagreement.
    """
    search = _Search(query, store, options)
    yield from search.recall()
    team = Team(jobs, cluster)
    try:
        if search.generator.propose():
            search.prove(team)
        yield from search.run(team, ahead=2 * jobs if cluster else jobs)
    finally:
        team.close()
    if store and not search.now.undecided:
        store.finish()


class _Search:
    """One search: the generator, the store and the count of what happened."""

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
        self.proved, self.stored = set(), set()

    def recall(self):
        """Apply the store's solutions, and its counterexamples once replay has confirmed them; all else is asked again.
        Raises InputError for an event that does not show what it says."""
        yield self.now
        for event in self.store.events() if self.store else ():
            with located(str(self.store.path)):
                trace = self._confirmed(event)
            if event.kind == PROVED:
                self.stored.add(event.way)
            elif event.kind != UNDECIDED:
                yield self._learn(event.kind, self.template.forms(event.candidate), trace)

    def _confirmed(self, event):
        try:
            return evidence.confirmed(self.query, event)
        except InputError as error:
            expected = "expected events that replay confirms; remove the file to begin anew"
            raise InputError(f"{evidence.named(event)}: {error.message}; {expected}") from None

    def prove(self, team):
        """Have the ways to fail that do not depend on the controller ruled out once."""
        team.submit(None, candidates.prove, *self.question, self.options)
        while team:
            for _, ways in team.results():
                self._proved(ways)

    def run(self, team, ahead):
        """Keep `ahead` candidates under way until none is left."""
        proved = tuple(sorted(self.proved))
        while True:
            while len(team) < ahead and (forms := self.generator.propose()):
                self.generator.strike(forms)
                name = f"the candidate {', '.join(map(str, forms))}"
                team.submit(forms, candidates.verify, *self.question, self.options, proved, self._source(forms), name)
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
        kind = {HOLDS: SOLUTION, VIOLATED: COUNTEREXAMPLE}.get(verdict.verdict, UNDECIDED)
        if kind == SOLUTION and self.template.kind(forms) in self.classes:
            return
        if self.store:
            indices = tuple(hole.index(form) for hole, form in zip(self.holes, forms, strict=True))
            trace = verdict.trace.to_json() if verdict.trace else None
            self.store.add(Event(kind, indices, self._source(forms), verdict.way, trace, verdict.seconds))
        yield self._learn(kind, forms, verdict.trace)

    def _learn(self, kind, forms, trace):
        """Strike out what the outcome decides, and count it."""
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
            now = replace(now, undecided=now.undecided + 1)
        self.now = replace(
            now,
            iterations=now.iterations + 1,
            left=self.generator.left,
            seconds=monotonic() - self.begin,
            controller=controller,
            anyone=now.anyone or (kind == COUNTEREXAMPLE and trace.controller is None),
        )
        return self.now
