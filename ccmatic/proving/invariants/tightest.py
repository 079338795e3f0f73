"""The tightest bounds that invariants prove. The search tries a grid of amounts, so it needs no expectation."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ccmatic.base import InputError
from ccmatic.proving.invariants.engine import Answer, Found
from ccmatic.proving.invariants.expected import Decided, asked, claim_of, refute
from ccmatic.proving.invariants.proof import Proved, certified, require_budget, search
from ccmatic.proving.invariants.saved import Invariant, load_invariant
from ccmatic.questions import Question

#: The amounts of bytes that the search tries, in C·R_m, and the shares of the link, each from the weakest on.
BYTES = tuple(Fraction(number, 2) for number in range(64, 0, -1))
SHARES = tuple(Fraction(number, 20) for number in range(1, 21))

#: The bytes K in C·R_m by which an interval may fall short of a utilisation. A proof for a K is one for each larger K,
#: and the search finds proofs for a small K sooner.
SHORTS = (1, 2, 4, 8, 16)

#: The largest part of a bound's budget that a single search for an invariant takes.
_PART = Fraction(1, 6)


@dataclass(frozen=True)
class Bound:
    """The tightest bound of a quantity that the search proved.

    Attributes:
        subject: The quantity: `queue`, `window`, `loss` or `utilisation`.
        within: K of a utilisation, in C·R_m; None for other quantities.
        amount: The amount of the proved bound, in C·R_m or as a share of the link; None if no amount was proved.
        proved: The proved bound with its invariant, or None.
        following: The next tighter amount of the grid, which is refuted or unknown. Without a proved bound, the weakest
            amount. None if the tightest amount of the grid was proved.
    """

    subject: str
    within: int | None
    amount: Fraction | None
    proved: Decided | None
    following: Decided | None

    def save(self, folder: Path) -> tuple[Path | None, Path | None]:
        """Write the invariant and the refuting execution to a folder; return their files, or None for each."""
        return (
            self.proved.save(folder) if self.proved else None,
            self.following.save(folder) if self.following else None,
        )


@dataclass(frozen=True)
class _Line:
    """A quantity with the amounts that the search tries, and the budget of the search."""

    controller: Any
    on: str
    start: str | None
    subject: str
    within: int | None
    seconds: float
    jobs: int
    folder: Path | None
    tells: Callable[[str], None]

    @property
    def amounts(self) -> tuple[Fraction, ...]:
        return BYTES if self.within is None else SHARES

    def question(self, place: int) -> Question:
        amount = self.amounts[place]
        text = f"{self.subject} <= {amount} bdp"
        if self.within is not None:
            text = f"utilisation >= {amount} within {self.within} bdp"
        return asked(self.controller, self.on, text, self.start)

    def bound(self, weaker: Bound | None = None) -> Bound:
        """Search for the tightest bound, by bisection between the weakest and the tightest amount.

        If a bound is known, the search first tries the next amount, and ends if it finds no proof.

        Args:
            weaker: The bound for a smaller K. Its proof is also valid for this K.
        """
        left = self.seconds
        (low, proved), high, found = self._known(weaker), len(self.amounts), None
        place = low + 1 if proved else (low + high) // 2
        while high - low > 1 and left > 0:
            tried = self._found(place)
            left -= tried.seconds
            if tried.answer is Answer.PROVED:
                low, found = place, tried
            else:
                high = place
            place = (low + high) // 2
        if found:
            proved = self._certified(low, found)
        return self._bound(low, proved)

    def _known(self, weaker: Bound | None) -> tuple[int, Proved | None]:
        """Return the place of the tightest amount that has a proof already, and this proof; or (-1, None)."""
        least = self.amounts.index(weaker.amount) if weaker and weaker.amount is not None else -1
        for place in range(len(self.amounts) - 1, max(least, 0) - 1, -1):
            proved = saved(self.question(place), self.folder) if self.folder else None
            if proved:
                return place, proved
        return least, self._of_larger_short(least, weaker) if weaker else None

    def _of_larger_short(self, place: int, weaker: Bound) -> Proved | None:
        """Return the proof of the same utilisation for a larger K."""
        if weaker.proved is None or weaker.proved.proved is None or weaker.proved.proved.invariant is None:
            return None
        question, given = self.question(place), weaker.proved.proved.invariant
        query, claim = question.query.of_small_packets(), claim_of(question)
        made = Invariant.certified(query, question.controller, claim, given.clauses, given.without)
        return Proved(claim, Answer.PROVED, made)

    def _found(self, place: int) -> Found:
        question = self.question(place)
        self.tells(question.text)
        query, each = question.query.of_small_packets(), self.seconds * _PART
        return search(query, question.controller, claim_of(question), each, self.jobs)

    def _certified(self, place: int, found: Found) -> Proved:
        question = self.question(place)
        return certified(question.query.of_small_packets(), question.controller, claim_of(question), found)

    def _bound(self, place: int, proved: Proved | None) -> Bound:
        """Return the bound of a proved place, and refute the next place; -1 if no place was proved."""
        decided = amount = following = None
        if proved and proved.invariant:
            question, amount = self.question(place), self.amounts[place]
            decided = Decided(question, proved.claim, "proved", proved)
        if place + 1 < len(self.amounts):
            question = self.question(place + 1)
            self.tells(f"a violation of {question.text}")
            claim = claim_of(question)
            following = refute(question, claim, Proved(claim, Answer.UNKNOWN), self.seconds)
        return Bound(self.subject, self.within, amount, decided, following)


def saved(question: Question, folder: Path) -> Proved | None:
    """Return the proof of a question that a folder has, if its certificates are valid."""
    claim, query = claim_of(question), question.query.of_small_packets()
    try:
        invariant = load_invariant(folder / f"{Decided(question, claim, 'unknown').name}.json")
    except InputError:
        return None
    about = invariant.query.record(), invariant.controller.source, invariant.claim
    if about != (query.record(), question.controller.source, claim) or invariant.fault():
        return None
    return Proved(claim, Answer.PROVED, invariant)


def tightest(
    controller: Any,
    on: str,
    start: str | None,
    seconds: float,
    jobs: int,
    folder: Path | None,
    tells: Callable[[str], None],
) -> Generator[Bound]:
    """Yield the tightest bounds that invariants prove about a controller; `ccmatic.api.find_bounds` explains them.

    Raises:
        InputError: If the network has no transition system, or if the budget is not above 0.
    """
    require_budget(seconds)
    query = asked(controller, on, "queue <= 1 bdp", start).query
    line = _Line(controller, on, start, "queue", None, seconds, jobs, folder, tells)
    yield line.bound()
    if query.model.windows:
        yield replace(line, subject="window").bound()
    if query.buffer.kind != "infinite" and query.model.R == 1:
        yield replace(line, subject="loss").bound()
    bound = None
    for within in SHORTS:
        bound = replace(line, subject="utilisation", within=within).bound(bound)
        yield bound
