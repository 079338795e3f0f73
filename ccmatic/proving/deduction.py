"""Deductions: statements about all time that follow from the lemmas of a proof, decided in exact arithmetic.

A lemma is a statement about a window of T steps. A deduction collects facts about several steps of one execution. The
execution may be arbitrarily long, so facts about distant steps need rules of their own. The rules are the methods of
`Deduction`; each of them is true of every execution whose first window satisfies the premises of the lemmas:

- `laws`: the laws of the network hold in each window.
- `lemmas`: the lemmas hold in each window from the first one on. The rule requires that their premises last.
- `sum_of`: if a value grows by at least x from each step to the n-th step after it, then the value grows by at least
  k·x in k·n steps.
- `crossing`: compare a level at some step with a sum that grows. Suppose that the level is at least the sum's value at
  the end of the first window, and at most the sum's value at that step. Then there is a last step at which the sum is
  at most the level.
- `relate`: two steps in a known order are equal, or the earlier one ends before the later one. In both cases the laws
  that the model declares as `far` hold at these steps. In the second case, sums grow in between.

A corollary follows if the facts and its negation have no common solution. A certificate decides this: a search finds
the certificate, and exact arithmetic checks it. A corollary of facts without any solution is rejected.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ccmatic.base import InputError, counted
from ccmatic.contracts import Corollary, Execution, RecordingDict, at_steps
from ccmatic.logic import Term, Truth, certificates, every, formula, linear, no, some

#: The name of the step at which a statement begins, and the name of a step that stands for every step.
BEGIN, ANY = "begin", "any"


class NotDerived(InputError):
    """The error that a rule of a deduction does not apply, or that a corollary does not follow."""


@dataclass(frozen=True)
class Instant:
    """A step of an execution: `offset` steps after the step `name`. `instant + 1` is the next step."""

    name: str
    offset: int = 0

    def __add__(self, steps: int) -> "Instant":
        return replace(self, offset=self.offset + steps)

    def __sub__(self, steps: int) -> "Instant":
        return self + -steps

    def __str__(self) -> str:
        return f"{self.name}{self.offset:+d}"


#: `value(x, t)` is a value at t, the last step of the window x.
OfStep = Callable[[Execution, int], Term]


@dataclass(frozen=True)
class Sum:
    """A value that grows by at least `least` from each step to the step `span` steps later."""

    value: OfStep
    span: int
    least: Term


@dataclass(frozen=True)
class Derivation:
    """The outcome of the check of a corollary: the reason why it is not derived, or the size of the certificates."""

    says: str
    fault: str | None
    how: str = ""


class Deduction:
    """The facts about one execution that a corollary may use.

    Args:
        proof: The Proof. Its lemmas hold in every window that satisfies their premises.
        query: The query about the proof's windows.
        values: The constants by name.
        state: The state of the controller.
        proved: The sizes of the certificates by formulas, for statements that several deductions prove.

    Attributes:
        jitter: D in steps.
        values: The constants by name.
    """

    def __init__(self, proof, query, values, state, proved):
        model = query.model
        if not model.far or model.since:
            raise NotDerived(f"{model.name} declares no laws about distant steps; expected a network that does")
        self.jitter = query.jitter
        self._proof, self._query, self.values, self._state = proof, query, values, state
        self._proved = proved
        self._facts: list[Truth] = []
        self._before: set[tuple[str, str]] = set()
        self._crossed: dict[str, Instant] = {}
        self._start: tuple[OfStep, OfStep] | None = None
        self._sizes = [0, 0]
        self._require_premises_last()

    def view(self, last: Instant, steps: int) -> Execution:
        """Return the window of `steps` steps that ends at an instant."""
        return self._at([last - back for back in range(steps - 1, -1, -1)])

    def laws(self, last: Instant, steps: int) -> Execution:
        """Add the laws of the network in a window, and return the window.

        Args:
            last: The last step of the window.
            steps: The number of steps, at most T.
        """
        self._require_begun(last, steps)
        x = self.view(last, steps)
        self._facts += self._laws(x)
        return x

    def lemmas(self, last: Instant) -> Execution:
        """Add the lemmas about the window of T steps that ends at `last`, and return the window."""
        self._require_begun(last, self._query.horizon)
        x = self.view(last, self._query.horizon)
        self._facts += self._lemmas(x)
        return x

    def sum_of(self, value: OfStep, least: Term = 0, span: int = 1) -> Sum:
        """Return a Sum, after a check that the value grows as stated.

        Args:
            value: The value.
            least: The least growth in `span` steps.
            span: The number of steps.
        """
        if span < 1 or span + self.jitter >= self._query.horizon:
            raise NotDerived(f"a sum grows in {span} steps; expected 1 to {self._query.horizon - self.jitter - 1}")
        here = Instant(ANY)
        facts = [*self._lemmas(self.view(here, self._query.horizon))]
        facts += self._laws(self.view(here, span + self.jitter + 1))
        self._prove(facts, self._value(value, here) - self._value(value, here - span) >= least, "a sum grows")
        return Sum(value, span, least)

    def begin(self, total: Sum, level: Sum) -> Instant:
        """Return the step at which the statement begins: any step at which the first window's bytes have passed.

        Args:
            total: A sum. The statement is about each step at which `level` is at least the value of `total` at the end
                of the first window.
            level: A sum that is compared with `total`.
        """
        if self._start:
            raise NotDerived("a deduction begins twice; expected once")
        self._require_growing(total, level)
        self._start = total.value, level.value
        return Instant(BEGIN)

    def crossing(self, name: str, at: Instant) -> Instant:
        """Return the last step, up to `at`, at which the total is at most the level at `at` (see `begin`)."""
        taken = {BEGIN, ANY, *self._crossed}
        if name in taken or self._start is None or at.name != BEGIN or at.offset < 0:
            raise NotDerived(f"'{name}' crosses at {at}; expected a new name, and a step from the begin on")
        total, level = self._start
        self._prove(
            self._laws(self.view(at, 2)), self._value(level, at) <= self._value(total, at), "a level is reached"
        )
        crossed = Instant(name)
        self._facts += [self._value(total, crossed) <= self._value(level, at)]
        self._facts += [self._value(level, at) <= self._value(total, crossed + 1)]
        self._before.add((name, BEGIN) if at.offset == 0 else (name, str(at)))
        self._before |= {(other, name) for other, place in self._crossed.items() if place.offset <= at.offset}
        self._crossed[name] = at
        return crossed

    def grows(self, total: Sum, first: Instant, spans: int) -> None:
        """Add that a sum grows in a number of spans after an instant."""
        self._require_begun(first, 1)
        last = first + spans * total.span
        self._facts.append(self._value(total.value, last) - self._value(total.value, first) >= spans * total.least)

    def relate(self, first: Instant, last: Instant, *sums: Sum) -> None:
        """Add the facts about two steps, if `first` is not after `last`, as a crossing implies.

        Args:
            first: A step.
            last: A step that is equal to `first` or later.
            sums: Sums that grow from the step after `first` to `last`, if `last` is later.
        """
        known = (first.name, last.name if last.offset == 0 else str(last))
        if first.offset or known not in self._before:
            raise NotDerived(f"{first} need not be before {last}; expected steps in a known order")
        self._require_growing(*sums)
        same = [first, last, first + 1, last + 1], [last, first, last + 1, first + 1]
        apart = [first, first + 1, last, last + 1]
        grown = [self._value(each.value, last) >= self._value(each.value, first + 1) for each in sums]
        self._facts.append(some(every([self._far(each) for each in same]), every(self._far(apart), grown)))

    def conclude(self, conditions: Sequence[Truth]) -> str:
        """Check that each condition follows from the facts. Return the size of the certificates.

        Raises:
            NotDerived: If a condition does not follow, or if the facts have no solution.
        """
        if not conditions:
            raise NotDerived("it states no condition")
        if certificates.certify(self._facts) is not None:
            raise NotDerived("the facts of its deduction contradict each other")
        for condition in conditions:
            self._prove(self._facts, condition, "the statement")
        return "certificates of {} inequalities and {} steps".format(*self._sizes)

    def _prove(self, facts: Sequence[Truth], condition: Truth, what: str) -> None:
        formulas = [*facts, no(condition)]
        key = tuple(map(formula, formulas))
        if key not in self._proved:
            certificate = certificates.certify(formulas)
            if certificate is None:
                raise NotDerived(f"it does not follow that {what}")
            outcome = certificates.check_certificate(formulas, certificate)
            if outcome.fault:
                raise NotDerived(f"{what}: {outcome.fault}")
            self._proved[key] = outcome.lemmas, outcome.steps
        self._sizes = [size + further for size, further in zip(self._sizes, self._proved[key], strict=True)]

    def _at(self, instants: Sequence[Instant]) -> Execution:
        query = self._query
        return at_steps(query.model, [str(each) for each in instants], query.buffer, query.jitter, self._state)

    def _value(self, value: OfStep, last: Instant) -> Term:
        return linear(value(self.view(last, self._query.horizon), self._query.horizon - 1))

    def _laws(self, x: Execution) -> list[Truth]:
        return [law.formula for law in self._query.model.laws(x)]

    def _far(self, instants: Sequence[Instant]) -> Truth:
        model = self._query.model
        return every([law.formula for law in model.laws(self._at(instants)) if law.name in model.far])

    def _lemmas(self, x: Execution) -> Iterator[Truth]:
        for lemma in self._proof.lemmas:
            if not lemma.paper:
                yield every(lemma.given(x, self.values), lemma.then(x, self.values))

    def _require_premises_last(self) -> None:
        """Check that a window satisfies the premises of the lemmas if the window one step earlier does."""
        last, steps = Instant(ANY), self._query.horizon
        before, after = (self.view(each, steps) for each in (last - 1, last))
        facts = self._laws(self.view(last + 1 - steps, 2))
        for lemma in self._proof.lemmas:
            given = lemma.given(before, self.values)
            self._prove([*facts, given], lemma.given(after, self.values), f"the premise of '{lemma.name}' lasts")

    def _require_begun(self, last: Instant, steps: int) -> None:
        """Refuse a window that may begin before the first one: named steps are not before the first window's end."""
        if last.offset < 0 or last.name == ANY or not 1 <= steps <= self._query.horizon:
            raise NotDerived(f"a window of {counted(steps, 'step')} ends at {last}; expected a window that has begun")

    def _require_growing(self, *sums: Sum) -> None:
        for each in sums:
            if each.span != 1:
                raise NotDerived(f"a sum grows every {each.span} steps; expected one that grows in each step")
            self._prove([], linear(each.least) >= 0, "a sum does not fall")


def derive(proof, query, values, state) -> list[Derivation]:
    """Return a Derivation for each corollary of a proof."""
    corollaries = proof.follows(values, query.horizon, query.jitter) if proof.follows else ()
    proved = {}
    return [_derivation(each, proof, query, RecordingDict(values), state, proved) for each in corollaries]


def _derivation(corollary: Corollary, *about) -> Derivation:
    try:
        deduction = Deduction(*about)
        return Derivation(corollary.says, None, deduction.conclude(list(corollary.derive(deduction))))
    except NotDerived as error:
        return Derivation(corollary.says, error.message)
