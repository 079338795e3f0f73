"""The product's verdicts on a window: whether a law of a question refuses it, as numbers and as formulas."""

from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from ccmatic.answers.verification.bounds import require_bounds
from ccmatic.answers.verification.replayer import check_trace, sender_laws
from ccmatic.base import InputError
from ccmatic.contracts import Bounds
from ccmatic.controllers import each_of
from ccmatic.logic import equal, every, iff, isolated
from ccmatic.logic.solving import SAT, Checker
from ccmatic.networks.traces import Trace
from ccmatic.questions import query as queries

NETWORKS = Path(__file__).parent / "networks"

#: Of a network whose senders send by windows all questions have the same laws of what is neither asked nor given.
NEUTRAL = {"what": "S[1] < S[0]"}


@lru_cache(maxsize=512)
def question(model, buffer, horizon, jitter, delay="published", by="avoids", history=0):
    """A query about a network, of a property; of `avoids` one that nothing breaks."""
    name = str(NETWORKS / model) if model.endswith(".py") else model
    thresholds = NEUTRAL if by == "avoids" else {}
    return queries.make(
        name, buffer, horizon, jitter, delay, by if by == "avoids" else None, thresholds, history=history
    )


class Refused(Exception):
    """The product refuses a controller, so that it answers nothing about it."""


class Asked:
    """The questions about one run's controllers."""

    def __init__(self, run):
        self.run, buffer = run, "infinite" if run.buffer is None else str(run.buffer)
        network = run.network
        about = network.model, buffer, run.horizon, run.D
        if network.windows:
            self.queries = {"verify, worst, prove, synth": question(*about)}
            # Before the start of a question, the state has the declared values: nothing has been decided yet.
            if all(written.anywhere for written in run.written):
                self.queries["--on and --expect"] = question(*about, history=run.horizon - run.D - 2)
        else:
            self.queries = {
                "verify, prove": question(*about, "executions", "synthesis invariant"),
                "worst": question(*about, "executions", "avoids"),
                "verify, synth (published)": question(*about, "published", "synthesis invariant"),
            }
        self.query = next(iter(self.queries.values()))
        sources = [written.source for written in run.written]
        try:
            self.controller = self.query.controller(sources if len(sources) > 1 else sources[0])
        except InputError as error:
            raise Refused(str(error)) from None
        self._left_out = {}

    def left_out(self, name):
        """The names of the exclusions that the answer to a question has."""
        if name not in self._left_out:
            self._left_out[name] = {each.name for each in queries.left_out(self.queries[name], self.controller)}
        return self._left_out[name]

    def require_bounds(self):
        """Raises Refused where the bounds of a law are not proved."""
        try:
            for each in each_of(self.controller):
                for R in set(self.run.network.R) if self.run.network.windows else ():
                    require_bounds(each, R, self.run.D)
        except InputError as error:
            raise Refused(str(error)) from None

    def trace(self, window, query):
        """The window as a trace of a query."""
        columns = {name: tuple(map(Fraction, column)) for name, column in window.columns.items()}
        return Trace(window.horizon, window.constants, columns, query.record(), self.controller.source)

    def broken(self, window):
        """Return the laws of each question that refuse the window: a dict of lists of names with their steps."""
        found = {}
        for name, query in self.queries.items():
            trace = self.trace(window, query)
            beliefs = set(query.units()) & set(window.columns)
            x = query.observed(trace, beliefs, self.controller.state)
            try:
                laws = [*query.laws(x), *query.model.belief_laws(x, beliefs), *sender_laws(x, self.controller)]
            except InputError as error:
                raise Refused(str(error)) from None
            found[name] = [str(law) for law in laws if law.formula is not True]
        return found

    def replayed(self, window):
        """Return the faults that a replay of the window finds, by question."""
        return {
            name: list(check_trace(query, self.trace(window, query)).faults) for name, query in self.queries.items()
        }

    @isolated
    def solved(self, window):
        """Whether the formulas of each question have the window as a solution: a dict of truth values."""
        return {name: self._is_solution(window, query) for name, query in self.queries.items()}

    def _is_solution(self, window, query):
        x = query.execution(Bounds.MOVE, self.controller.state)
        beliefs = set(query.units()) & set(window.columns)
        checker = Checker()
        for law in (*query.laws(x), *query.model.belief_laws(x, beliefs), *sender_laws(x, self.controller)):
            checker.add(law.formula)
        for name, column in x.columns().items():
            if name in window.columns:
                pairs = zip(column, window.columns[name], strict=True)
                checker.add(every([equal(term, Fraction(value)) for term, value in pairs]))
        for name in query.model.measures:
            for truth, value in getattr(x, name).pairs(window.columns[name]):
                checker.add(iff(truth, value))
        checker.add(equal(x.alpha, window.constants["MSS"]))
        for name, term in x.constants.items():
            checker.add(equal(term, window.constants[name]))
        return checker.check() == SAT


@lru_cache(maxsize=512)
def repeating(model, buffer, horizon, jitter, period):
    """The query of `worst --period` about a network."""
    name = str(NETWORKS / model) if model.endswith(".py") else model
    return queries.make(name, buffer, horizon, jitter, "published", "avoids", {**NEUTRAL, "repeats": str(period)})


class AskedForEver(Asked):
    """The same of `worst --period`, about a run that repeats itself."""

    def __init__(self, run):
        super().__init__(run)
        buffer = "infinite" if run.buffer is None else str(run.buffer)
        query = repeating(run.network.model, buffer, run.horizon, run.D, run.period)
        self.query, self.queries = query, {"worst --period": query}

    def broken(self, window):
        found = super().broken(window)
        ((name, query),) = self.queries.items()
        x = query.observed(self.trace(window, query), (), self.controller.state)
        (way,) = query.property.ways_to_fail(query.model, query.buffer)
        if way.premise(x) is not True:
            found[name] = [*found[name], "property.it_repeats_itself at t=0"]
        return found
