"""The check of a finished synthesis run. The check trusts neither the generator nor a solver of the run.

The check replays each counterexample. Then it shows that the counterexamples, the classes of the solutions and the
skipped candidates together strike out the whole search space. A solver decides each skipped candidate again. The check
trusts the solutions, unless the caller requests another verification.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from math import lcm
from pathlib import Path

import numpy as np

from ccmatic import records
from ccmatic.answers.verification import EMPTY, HOLDS, UNDECIDED, VIOLATED, Verifier
from ccmatic.base import InputError, located
from ccmatic.contracts import Branch, Sketch, value_of
from ccmatic.logic import certificates, isolated
from ccmatic.logic.solving import SolverOptions
from ccmatic.questions import query as queries
from ccmatic.synthesis import replays
from ccmatic.synthesis import run_file as store

#: The largest search space, in candidates, that the check enumerates. For larger spaces, a checked refutation proves
#: that the strikes cover the space.
LARGEST_ENUMERATED = 10**8

#: The largest number of missing events that a report names.
MISSING = 20

#: The verdict that confirms an event, by the event's kind.
_CONFIRMING = {store.SOLUTION: HOLDS, store.SKIPPED: EMPTY}

#: The fault of an event whose verdict differs, by the verdict.
_FAULTS = {
    VIOLATED: "the verifier finds a trace that breaks it",
    HOLDS: "the verifier finds an execution of it",
    EMPTY: "no execution of it satisfies what the property assumes",
}

#: The number of steps per machine word in the enumeration.
WORD = 62


@dataclass(frozen=True)
class CoverReport:
    """The outcome of the check of a run.

    Attributes:
        query: The Query of the run.
        solutions: The number of solutions.
        counterexamples: The number of counterexamples.
        skipped: The number of candidates that the run skipped, because they have no executions.
        faults: A sentence for each event that does not prove its claim.
        uncovered: The source of a candidate that no event strikes out, or None.
        method: The method of the check: `enumeration` or `refutation`.
        steps: The number of steps of the refutation.
        verified: Whether the check verified the solutions.
        undecided: The numbers of the events on whose candidates the solver timed out.
    """

    query: object
    solutions: int
    counterexamples: int
    skipped: int
    faults: tuple
    uncovered: str | None
    method: str
    steps: int = 0
    verified: bool = False
    undecided: tuple = ()

    @property
    def covered(self):
        """Whether the run proves that its solutions are complete."""
        return not self.faults and self.uncovered is None


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
    about, events = store.read_run(run)
    with located(str(run)):
        query = queries.from_record(about.query, allow_code)
        if query.template is None:
            raise InputError("the run names no template")
        query.require_unchanged(about.query)
        digest = {"definitions_digest": about.query.definitions_digest}
        if query.search() | digest != records.data(about.query) | digest:
            raise InputError("the template has changed since the run")
        checked = _Run(query)
        missing = _missing(about, events)
    for event in events:
        checked.check_event(event)
    checked.compare()
    faults, undecided = [*missing, *checked.faults], []
    again = [*checked.skipped, *(checked.solutions if verify_solutions else ())]
    for event, verdict in checked.verdicts(again, solver) if again else ():
        if verdict == UNDECIDED:
            undecided.append(event.number)
        elif verdict != _CONFIRMING[event.kind]:
            faults.append(f"{store.named(event)}: {_FAULTS[verdict]}")
    report = CoverReport(
        query,
        len(checked.solutions),
        len(checked.strikes),
        len(checked.skipped),
        tuple(faults),
        None,
        "enumeration",
        verified=verify_solutions,
        undecided=tuple(undecided),
    )
    if isinstance(query.template, Sketch):
        decided = {event.candidate for event in (*checked.solutions, *checked.skipped)}
        return replace(report, uncovered=replays.uncovered(query.template, checked.strikes.values(), decided))
    strikes = [
        *checked.strikes.values(),
        *(Strike.of_class(query.template, event.candidate) for event in checked.solutions),
    ]
    strikes += [Strike.of_one(query.template, event.candidate) for event in checked.skipped]
    if query.template.size <= LARGEST_ENUMERATED:
        return replace(report, uncovered=_enumerate(query.template, strikes))
    uncovered, steps = refute(query.template, strikes)
    return replace(report, uncovered=uncovered, method="refutation", steps=steps)


def _missing(about, events):
    """Return a sentence for each event that is missing in the file, up to MISSING sentences."""
    numbers = {0, *(event.number for event in events)}
    try:
        last = int(about.finished or 0)
    except ValueError:
        raise InputError(f"the run is finished with {about.finished!r:.40}; expected a number of events") from None
    absent = (number for number in range(1, max([*numbers, last]) + 1) if number not in numbers)
    return [f"event {number} is missing" for number in islice(absent, MISSING)]


class _Run:
    """The valid events of a run, the Strike of each counterexample, and a fault for each invalid event."""

    def __init__(self, query):
        self.query = query
        self.solutions, self.skipped, self.strikes, self.faults = [], [], {}, []

    def check_event(self, event):
        try:
            trace = store.confirmed(self.query, event)
            if event.kind == store.SOLUTION:
                self.solutions.append(event)
            elif event.kind == store.SKIPPED:
                self.skipped.append(event)
            elif trace is not None:
                self.strikes[event.number] = self._strike(trace)
        except InputError as error:
            self.faults.append(f"{store.named(event)}: {error.message}")

    def _strike(self, trace):
        if isinstance(self.query.template, Sketch):
            return replays.Replay(self.query, trace)
        return Strike.of_trace(self.query.template, trace)

    def compare(self):
        """Check that no two solutions share a class, and that no counterexample breaks a solution or skipped candidate.

        A counterexample of a candidate is an execution of it.
        """
        classes = {}
        for event in self.solutions:
            kind = self.query.template.kind(self.query.template.forms(event.candidate))
            first = classes.setdefault(kind, event.number)
            if first != event.number:
                self.faults.append(f"{store.named(event)}: it has the same class as event {first}")
        for event in (*self.solutions, *self.skipped):
            for number, strike in self.strikes.items():
                if strike.strikes(self.query.template, event.candidate):
                    self.faults.append(f"{store.named(event)}: the counterexample of event {number} breaks it")

    def verdicts(self, events, options):
        """Decide the candidates of events again, and yield (event, verdict)."""
        reads, sample = self.query.read_by_candidates()
        state = self.query.read_controller(sample).state
        verifier = Verifier(self.query, reads, options, state=state, many=True)
        for event in events:
            yield event, verifier.verify(self.query.read_controller(event.source)).verdict


@dataclass(frozen=True)
class Strike:
    """The set of candidates that one trace, or one class of solutions, strikes out.

    Attributes:
        words: A machine word for each hole and form, with one bit per step. For a condition, bit t says whether the
            condition holds at step t. For a leaf, bit t says whether the leaf chooses the trace's rate at step t.
        steps: The word in which the bits of all steps are set.
        members: For a class of solutions: whether each form of each hole belongs to the class. The class strikes out a
            candidate if all of the candidate's forms belong to the class. For a trace, the list is empty.
    """

    words: tuple
    steps: int
    members: tuple = ()

    @staticmethod
    def of_trace(template, trace):
        """Return the strike of a trace, which contains the candidates that would have chosen exactly the trace's rates.

        If the trace violates the property for all rates, its strike contains all candidates.
        """
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
            packed = np.packbits(truths.astype(bool), axis=1, bitorder="little")
            words.append(tuple(int.from_bytes(row.tobytes(), "little") for row in packed))
        return Strike(tuple(words), (1 << trace.horizon - 1) - 1)

    @staticmethod
    def of_class(template, candidate):
        """Return the strike of a class, which contains the candidates with the same coefficients of beliefs."""
        members = (
            tuple(form.beliefs == chosen.beliefs for form in hole)
            for hole, chosen in zip(template.holes(), template.forms(candidate), strict=True)
        )
        return Strike((), 0, tuple(members))

    @staticmethod
    def of_one(template, candidate):
        holes = zip(template.holes(), candidate, strict=True)
        return Strike((), 0, tuple(tuple(index == chosen for index in range(len(hole))) for hole, chosen in holes))

    def strikes(self, template, candidate):
        words = [forms[index] for forms, index in zip(self.words, candidate, strict=True)]
        for path, leaf in template.leaves():
            here = self.steps
            for hole, holds in path:
                here &= words[hole] if holds else ~words[hole]
            if here & ~words[leaf]:
                return False
        return True

    def parts(self):
        """Yield strikes of WORD steps each.

        A candidate is in this strike if and only if it is in all of these parts.
        """
        for first in range(0, max(self.steps.bit_length(), 1), WORD):
            part = self.steps >> first & (1 << WORD) - 1
            yield Strike(tuple(tuple(word >> first & part for word in forms) for forms in self.words), part)


@lru_cache(maxsize=16)
def _coefficients(hole):
    """Return the terms of a hole's forms, their coefficients (forms × terms), and a scale.

    The returned coefficients are integers: the true coefficients times the scale.
    """
    terms = sorted({term for form in hole for term, _ in form.coefficients})
    scale = lcm(*(coefficient.denominator for form in hole for _, coefficient in form.coefficients))
    rows = [[int(dict(form.coefficients).get(term, 0) * scale) for term in terms] for form in hole]
    return terms, np.array(rows, np.int64).reshape(len(hole), len(terms)), scale


def _values(hole, rows, others):
    """Return the value of each form at each step (forms × steps), and the values `others`.

    All values are multiplied by a common factor that makes them integers.
    """
    terms, coefficients, scale = _coefficients(tuple(hole))
    values = [[value_of(term, row) for row in rows] for term in terms]
    more = lcm(*(value.denominator for column in (*values, others) for value in column))
    integers = np.array([[int(value * more) for value in column] for column in values], object)
    scaled = [int(value * more * scale) for value in others]
    largest = max(map(abs, (*integers.flat, *scaled))) * int(np.abs(coefficients).max(initial=1)) * (len(terms) + 1)
    fits = np.int64 if largest < 2**62 else object
    return coefficients.astype(fits) @ integers.astype(fits).reshape(len(terms), len(rows)), scaled


def _enumerate(template, strikes):
    """Check all candidates. Return the source of a candidate that no strike contains, or None."""
    covered = np.zeros([len(hole) for hole in template.holes()], bool)
    for strike in strikes:
        if strike.members:
            covered[np.ix_(*strike.members)] = True
        else:
            struck = np.ones(covered.shape, bool)
            for part in strike.parts():
                words = iter(np.array(forms, np.int64) for forms in part.words)
                struck &= _struck(template, words, np.array(part.steps))
            covered |= struck
    if covered.all():
        return None
    indices = np.unravel_index(int(np.argmin(covered)), covered.shape)
    return template.candidate(tuple(map(int, indices)))


def _struck(node, words, active):
    """Return whether each candidate of a template's node agrees with the trace at all active steps.

    The returned array has the axes of `active`, and then one axis per hole.
    """
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


def refute(template, strikes):
    """Refute the statement that some candidate is in no strike.

    Return None and the number of steps of the refutation, or the source of a candidate that no strike contains, and 0.
    Raise InputError if the recorded refutation fails its check.
    """
    formula = _Formula(template, strikes)
    model, logged = certificates.refute(formula.clauses)
    if model:
        return template.candidate(formula.chosen(model)), 0
    steps, refuted = certificates.check_refutation(formula.clauses, logged)
    if not refuted:
        raise InputError("the refutation that the SAT solver logged does not follow by unit propagation")
    return None, steps


class _Formula:
    """The clauses of the formula.

    The clauses do not require that a hole has only one form. This keeps the result sound: further forms only make more
    strikes apply.
    """

    def __init__(self, template, strikes):
        self.clauses, self._top = [], 0
        self.forms = [[self._new() for _ in hole] for hole in template.holes()]
        self.clauses += map(list, self.forms)
        for strike in strikes:
            if strike.members:
                self._not_of_class(strike)
            else:
                struck = self._struck(template, list(zip(self.forms, strike.words, strict=True)), strike.steps, {})
                self.clauses.append([-struck])

    def chosen(self, model):
        true = {literal for literal in model if literal > 0}
        return [next(index for index, form in enumerate(row) if form in true) for row in self.forms]

    def _not_of_class(self, strike):
        inside = [self._new() for _ in self.forms]
        for literal, forms, members in zip(inside, self.forms, strike.members, strict=True):
            self.clauses += [[-form, literal] for form, member in zip(forms, members, strict=True) if member]
        self.clauses.append([-literal for literal in inside])

    def _struck(self, node, holes, active, literals, first=0):
        """Return a literal that is true if a node of the template agrees with the trace at all active steps."""
        if (first, active) in literals:
            return literals[first, active]
        literal = literals[first, active] = self._new()
        forms, words = holes[first]
        if not isinstance(node, Branch):
            self.clauses += [[-form, literal] for form, word in zip(forms, words, strict=True) if active & ~word == 0]
            return literal
        behind = first + 1 + (len(node.then.holes()) if isinstance(node.then, Branch) else 1)
        splits = {}
        for form, word in zip(forms, words, strict=True):
            splits.setdefault(active & word, []).append(form)
        for holds, chosen in splits.items():
            then = self._struck(node.then, holes, holds, literals, first + 1)
            otherwise = self._struck(node.otherwise, holes, active & ~holds, literals, behind)
            split = self._new()
            self.clauses += [[-form, split] for form in chosen]
            self.clauses.append([-split, -then, -otherwise, literal])
        return literal

    def _new(self):
        self._top += 1
        return self._top
