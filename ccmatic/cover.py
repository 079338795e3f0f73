"""The check of a finished run that trusts neither its generator nor a solver: each counterexample by replay, and
that together with the classes of the solutions they strike out the whole space."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import lcm

import numpy as np

from ccmatic import proof, replay, store
from ccmatic import query as queries
from ccmatic.errors import InputError, located
from ccmatic.template import Branch
from ccmatic.trace import Trace

#: Spaces up to this size are enumerated; that a larger one is covered is proved by a checked refutation.
LARGEST_ENUMERATED = 10**8


@dataclass(frozen=True)
class Report:
    """query: the run's. solutions, counterexamples: how many. faults: counterexamples that are none, with the reason.
    uncovered: the source of a candidate that nothing strikes out, or None. method: `enumeration` or `refutation`;
    steps: of the refutation."""

    query: object
    solutions: int
    counterexamples: int
    faults: tuple
    uncovered: str | None
    method: str
    steps: int = 0

    @property
    def covered(self):
        """Whether the run shows that its solutions are all there are."""
        return not self.faults and self.uncovered is None


def check(path, allow_code=False):
    """Check the run in a file. Raises InputError if it is not one, or its template is not the one found now.
    allow_code: as in `queries.from_record`."""
    about, events = store.read(path)
    with located(str(path)):
        query = queries.from_record(about["query"], allow_code)
    if query.search() != about["query"]:
        raise InputError("the template has changed since the run", str(path))
    faults, strikes = list(_missing(about, events)), []
    for event in events:
        if event.kind == store.COUNTEREXAMPLE:
            trace = Trace.from_json(event.trace, str(path))
            fault = _fault(query, trace)
            if fault:
                faults.append(f"event {event.number}, a counterexample: {fault}")
            else:
                strikes.append(Strike.of_trace(query.template, trace))
        elif event.kind == store.SOLUTION:
            strikes.append(Strike.of_class(query.template, event.candidate))
    solutions = sum(event.kind == store.SOLUTION for event in events)
    report = Report(query, solutions, len(strikes) - solutions, tuple(faults), None, "enumeration")
    if query.template.size <= LARGEST_ENUMERATED:
        return replace(report, uncovered=_enumerate(query.template, strikes))
    uncovered, steps = proof.refute(query.template, strikes)
    return replace(report, uncovered=uncovered, method="refutation", steps=steps)


def _missing(about, events):
    """Events that were taken out of the file."""
    known = {event.number for event in events}
    for number in range(1, max([*known, int(about["finished"] or 0)], default=0) + 1):
        if number not in known:
            yield f"event {number} is missing"


def _fault(query, trace):
    """Why the trace is not one of the query's network that breaks its property, or None."""
    if trace.query != query.record():
        return "it is a trace of another query"
    try:
        report = replay.check(query, replay.complete(query, trace))
    except InputError as error:
        return error.message
    if report.faults:
        return f"it breaks {report.faults[0]}"
    if report.outcome is replay.Outcome.BREAKS:
        return None
    return report.reason or "the property holds on it"


@dataclass(frozen=True)
class Strike:
    """What one trace, or one class, strikes out. For each hole and form a word: bit t says of a condition that it
    holds at step t, of a leaf that it does there what was seen. steps: all bits. A class has members for each hole
    in place of words: a candidate is struck out if each of its forms is one."""

    words: tuple
    steps: int
    members: tuple = ()

    @staticmethod
    def of_trace(template, trace):
        """The candidates that would have chosen the trace's rates, exactly; all of them if it breaks the property
        whatever the rates."""
        if trace.controller is None:
            return Strike(tuple((0,) * len(hole) for hole in template.holes()), 0)
        rows = list(trace.decisions(template.names))
        rates = trace.columns["r"][1:]
        floor = trace.constants["MSS"] / trace.constants["R_m"]
        conditions = template.condition_holes()
        words = []
        for index, hole in enumerate(template.holes()):
            values, (least, *seen) = _values(hole, rows, (floor, *rates))
            truths = values > 0 if index in conditions else np.maximum(values, least) == np.array(seen, values.dtype)
            words.append(tuple((truths.astype(np.int64) @ (1 << np.arange(len(rows)))).tolist()))
        return Strike(tuple(words), (1 << trace.horizon - 1) - 1)

    @staticmethod
    def of_class(template, candidate):
        """The candidates with the same coefficients of beliefs as this one."""
        members = (
            tuple(form.beliefs == hole[index].beliefs for form in hole)
            for hole, index in zip(template.holes(), candidate)
        )
        return Strike((), 0, tuple(members))


@lru_cache(maxsize=16)
def _coefficients(hole):
    """The terms of a hole's forms, their coefficients as integers, forms × terms, and by what these are multiplied."""
    terms = sorted({term for form in hole for term, _ in form.coefficients})
    scale = lcm(*(coefficient.denominator for form in hole for _, coefficient in form.coefficients))
    rows = [[int(dict(form.coefficients).get(term, 0) * scale) for term in terms] for form in hole]
    return terms, np.array(rows, np.int64).reshape(len(hole), len(terms)), scale


def _values(hole, rows, others):
    """The value of each form at each step, forms × steps, and `others`, all times what makes them integers."""
    terms, coefficients, scale = _coefficients(tuple(hole))
    values = [[Fraction(eval(term, {}, row)) for row in rows] for term in terms]
    more = lcm(*(value.denominator for column in (*values, others) for value in column))
    integers = np.array([[int(value * more) for value in column] for column in values], object)
    scaled = [int(value * more * scale) for value in others]
    largest = max(map(abs, (*integers.flat, *scaled))) * int(np.abs(coefficients).max(initial=1)) * (len(terms) + 1)
    fits = np.int64 if largest < 2**62 else object
    return coefficients.astype(fits) @ integers.astype(fits).reshape(len(terms), len(rows)), scaled


def _enumerate(template, strikes):
    """The source of a candidate that nothing strikes out, or None: all candidates, one by one."""
    covered = np.zeros([len(hole) for hole in template.holes()], bool)
    for strike in strikes:
        if strike.members:
            covered[np.ix_(*strike.members)] = True
        else:
            words = iter(np.array(word, np.int64) for word in strike.words)
            covered |= _struck(template, words, np.array(strike.steps))
    if covered.all():
        return None
    indices = np.unravel_index(int(np.argmin(covered)), covered.shape)
    return template.candidate(indices)


def _struck(node, words, active):
    """Which candidates of a node do what was seen at all the active steps; an axis for each hole after those of
    `active`."""
    word = next(words)
    if not isinstance(node, Branch):
        return active[..., None] & ~word == 0
    then = _struck(node.then, words, active[..., None] & word)
    otherwise = _struck(node.otherwise, words, active[..., None] & ~word)
    shared = active.ndim + 1
    then_axes, other_axes = then.ndim - shared, otherwise.ndim - shared
    then = then.reshape(then.shape + (1,) * other_axes)
    otherwise = otherwise.reshape(otherwise.shape[:shared] + (1,) * then_axes + otherwise.shape[shared:])
    return then & otherwise

