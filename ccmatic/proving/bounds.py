"""The tightest bounds that invariants prove. The search tries a grid of amounts, so it needs no expectation."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ccmatic.base import InputError
from ccmatic.controllers import Given
from ccmatic.logic import isolated_steps
from ccmatic.networks import traces
from ccmatic.networks.traces import LOSS, QUIET, SENDER, SMALL
from ccmatic.proving.expectations import Decided, asked, claim_of, refute
from ccmatic.proving.invariants.engine import Answer, Found
from ccmatic.proving.invariants.proof import Proved, certified, require_budget, search
from ccmatic.proving.invariants.saved import Invariant
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

        A proof for a smaller K is valid for this K, too. If a bound is known, the search first tries the next amount,
        and ends if it finds no proof.
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
        invariant = Invariant.load(folder / f"{Decided(question, claim, 'unknown').name}.json")
    except InputError:
        return None
    about = invariant.query.record(), invariant.controller.source, invariant.claim
    if about != (query.record(), question.controller.source, claim) or invariant.fault():
        return None
    return Proved(claim, Answer.PROVED, invariant)


def find_bounds(
    controller: Given,
    on: str,
    *,
    start: str | None = None,
    out: str | Path | None = None,
    seconds: float = 60,
    jobs: int = 2,
    tells: Callable[[str], None] = lambda what: None,
) -> Iterator[Bound]:
    """Find the tightest bounds that inductive invariants prove, on a grid of amounts.

    The bounds are about the queue, the window of a window sender, the loss per R_m of a finite buffer, and the
    utilisation within K for K = 1, 2, 4, 8 and 16 C·R_m. Bytes are tried in steps of 1/2 C·R_m up to 32, and
    utilisations in steps of 1/20.

    Args:
        controller: The controller.
        on: The network, as in `ask`.
        start: The start of the executions, as in `prove_by_invariant`.
        out: The folder of an earlier search. The search begins at the bounds that are proved there. `Bound.save` writes
            to a folder.
        seconds: The budget of each bound, in CPU seconds of each process. The search for an execution that refutes the
            next bound may take as long, by the clock.
        jobs: The number of processes.
        tells: A function that is called with each expectation that the search tries.

    Returns:
        An iterator over the Bounds: the amount, the Decided of the proved bound, and that of the next tighter bound.

    Raises:
        InputError: If the network has no transition system.

    Examples:
        >>> next(iter(cm.find_bounds("cc_qdel", "ccac, buffer infinite, jitter 1 rtt"))).amount
        Fraction(7, 1)
    """
    line = _Line(controller, on, start, "queue", None, seconds, jobs, None if out is None else Path(out), tells)
    return isolated_steps(_tightest(line))


def _tightest(line: _Line) -> Generator[Bound]:
    require_budget(line.seconds)
    query = asked(line.controller, line.on, "queue <= 1 bdp", line.start).query
    yield line.bound()
    if query.model.windows:
        yield replace(line, subject="window").bound()
    if query.buffer.kind != "infinite" and query.model.R == 1:
        yield replace(line, subject="loss").bound()
    bound = None
    for within in SHORTS:
        bound = replace(line, subject="utilisation", within=within).bound(bound)
        yield bound


def draw_bounds(name: str, bounds: Sequence[Bound], file: str | Path) -> None:
    """Draw bounds to a file: the share of the link by K, and the share beside the bytes in the queue.

    A filled mark is a proved bound. A hollow mark is the next tighter utilisation, refuted or unknown.

    Args:
        name: The name of the controller, for the title.
        bounds: The Bounds that `find_bounds` returned.
        file: The path of a PNG, SVG or PDF file.

    Raises:
        InputError: If matplotlib is missing, or the file's suffix is not supported.

    Examples:
        >>> cm.draw_bounds("cc_qdel", bounds, "bounds.svg")
    """
    rates = [bound for bound in bounds if bound.within is not None]
    queue = next((bound.amount for bound in bounds if bound.subject == "queue"), None)
    with traces.figure(Path(file), (8.4, 3.6)) as figure:
        by_short, by_queue = figure.subplots(1, 2)
        for bound in rates:
            if bound.amount is not None:
                by_short.plot(bound.within, float(bound.amount), "o", color=SENDER)
                if queue is not None:
                    by_queue.plot(float(bound.amount), float(queue), "o", color=SENDER)
                    where = (float(bound.amount), float(queue))
                    by_queue.annotate(f"K = {bound.within}", where, (4, 4), textcoords="offset points", fontsize=SMALL)
            if bound.following:
                share = float(bound.following.question.expectation.comparison.amount)
                refuted = bound.following.verdict == "refuted"
                by_short.plot(bound.within, share, "o", color=LOSS if refuted else QUIET, fillstyle="none")
        by_short.set(xlabel="K (C·$R_m$)", ylabel="share of the link", ylim=(0, 1.05), xscale="log")
        by_short.set_xticks([bound.within for bound in rates], [str(bound.within) for bound in rates])
        by_short.minorticks_off()
        by_queue.set(xlabel="least share of the link, short by at most K", ylabel="most bytes in the queue (C·$R_m$)")
        by_queue.set(xlim=(0, 1.05), ylim=(0, None if queue is None else float(queue) * 1.2))
        for axes in (by_short, by_queue):
            axes.grid(color="#e6e6e6", linewidth=0.7)
        title = f"{name}: filled marks are proved; hollow ones are refuted (red) or unknown (grey)"
        figure.suptitle(title, fontsize=SMALL, parse_math=False)
