"""The search for the smallest share of a flow, and its answer: the share, the searches, and the reasons."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from time import monotonic
from typing import Any

from ccmatic import controllers
from ccmatic.answers import worst_case
from ccmatic.answers.explanation import FlowAccount, accounts, contrast
from ccmatic.answers.worst_case import UNDECIDED, NoExecution, WorstCase
from ccmatic.base import TIME, Clock, InputError, OutOfTime, TooShort, blamed, counted, definitions, markup, shown
from ccmatic.contracts import Exclusion
from ccmatic.controllers import Given
from ccmatic.language import Name, Past, comparisons, leaves
from ccmatic.logic import isolated
from ccmatic.logic.solving import SolverOptions
from ccmatic.networks.traces import Trace
from ccmatic.questions import SolverNetwork, describe, expectations, place
from ccmatic.questions.query import Decides, Network, Query, left_out

#: A flow starves if its part of the served bytes is below this fraction of its fair share.
THRESHOLD = Fraction(1, 10)

STARVES, FAIR, UNKNOWN = "starves", "does not starve", "unknown"


@dataclass(frozen=True)
class Attempt:
    """One search for the smallest share of any flow.

    Attributes:
        period: The number of steps after which the executions repeat; None for one window, without repetition.
        horizon: T in steps.
        seconds: The time that the search took.
        worst: The edge value of the smallest share; None if the search found none.
        why: If there is no smallest share, the reason in words (no such execution, or a timeout).
        exists: Whether an execution of the searched kind exists; None if unknown.
        everywhere: Whether `exists` also covers executions that begin in a state which a controller reaches only after
            a while.
    """

    period: int | None
    horizon: int
    seconds: float
    worst: WorstCase | None = None
    why: str = ""
    exists: bool | None = None
    everywhere: bool = True

    @property
    def decided(self) -> bool:
        """Whether the search decided all candidate values of the share."""
        if self.exists is False:
            return self.everywhere
        return self.worst is not None and self.worst.verdict != UNDECIDED

    def proves(self, share: Fraction) -> bool:
        """Whether the search proves that each flow gets at least `share` in each searched execution."""
        if self.exists is False:
            return self.everywhere
        return self.worst is not None and self.worst.none is not None and self.worst.none >= share

    @property
    def executions(self) -> str:
        """A description of the searched executions."""
        if self.period is None:
            return f"one window of {counted(self.horizon - 1, 'step')} from a converged start"
        return f"executions that repeat every {f'{self.period} steps' if self.period > 1 else 'step'}"

    def sentence(self) -> str:
        """Return the outcome of the search as a sentence."""
        return self.why or (self.worst.sentence() if self.worst else "")


@dataclass(frozen=True, repr=False)
class Starvation:
    """The answer of `starve`.

    Attributes:
        controller: The controller, or the controllers of the flows.
        on: The network in the question language.
        where: The network, in words.
        notes: Sentences about the quantities that the network rounds.
        flows: The number of flows that share the network.
        attempts: The Attempts, in order.
        left_out: The excluded kinds of executions, such as executions outside the published model.
        seconds: The time that all searches took.
    """

    controller: Decides
    on: str
    where: str
    notes: tuple[str, ...]
    flows: int
    attempts: tuple[Attempt, ...]
    left_out: tuple[Exclusion, ...]
    seconds: float

    @property
    def fair(self) -> Fraction:
        """The fair share of a flow."""
        return Fraction(1, self.flows)

    @property
    def threshold(self) -> Fraction:
        """The share below which a flow starves."""
        return THRESHOLD * self.fair

    @property
    def verdict(self) -> str:
        """The verdict: `starves`, `does not starve` (for the tried periods), or `unknown`."""
        if self.share is not None and self.share < self.threshold:
            return STARVES
        for_ever = [attempt for attempt in self.attempts if attempt.period]
        if any(attempt.exists for attempt in for_ever) and all(each.proves(self.threshold) for each in for_ever):
            return FAIR
        return UNKNOWN

    @property
    def attempt(self) -> Attempt | None:
        """The Attempt whose trace shows the smallest share, preferably with repetition; None if there is no trace."""
        shown = [(self._lesser(each), each) for each in self.attempts if each.worst and each.worst.trace]
        return min(shown, key=lambda pair: (pair[1].period is None, pair[0]))[1] if shown else None

    @property
    def trace(self) -> Trace | None:
        """The trace of `attempt`, or None."""
        return self.attempt.worst.trace if self.attempt and self.attempt.worst else None

    @cached_property
    def accounts(self) -> list[FlowAccount]:
        """For each flow, its service, observations and actions in the last period or window of the trace."""
        return _accounts(self.attempt) if self.attempt else []

    @property
    def least(self) -> FlowAccount | None:
        """The flow that receives the fewest bytes; None if there is no trace."""
        return min(self.accounts, key=lambda account: account.served, default=None)

    @property
    def most(self) -> FlowAccount | None:
        """The flow that receives the most bytes; None if there is no trace."""
        return max(self.accounts, key=lambda account: account.served, default=None)

    @property
    def share(self) -> Fraction | None:
        """The exact share of the flow that receives the fewest bytes; None if there is no trace."""
        return self._lesser(self.attempt) if self.attempt else None

    @property
    def ratio(self) -> Fraction | None:
        """The most bytes served for a flow over the fewest; None without a trace, or if some flow is served none."""
        if self.least is None or self.most is None or not self.least.served:
            return None
        return self.most.served / self.least.served

    @property
    def suggestions(self) -> list[str]:
        """Sentences that suggest what to try if the search was undecided."""
        if self.verdict != UNKNOWN:
            return []
        late = [each for each in self.attempts if not each.decided]
        tried = [each.period for each in self.attempts if each.period]
        made = []
        if late:
            made.append("--timeout SECONDS: more than this time; it is shared by all periods")
        if not any(each.exists or not each.decided for each in self.attempts if each.period):
            more = max(tried, default=0)
            made.append(
                f"--period {more + 1}, or more: no execution repeats after the steps that were tried; state that "
                "counts time repeats only when it starts again"
            )
            if "infinite" in self.on:
                made.append(
                    "--on '…, buffer 1/2 bdp': windows repeat sooner in a small buffer; packets are below 1/5 bdp"
                )
                made.append("--on '…, buffer 1 bdp': an infinite buffer loses no bytes, so losses slow no flow down")
        elif len(tried) > 1 and late and late[0].period:
            made.append(f"--period {late[0].period} alone: then it has most of the time")
        return made

    def sentence(self) -> str:
        """Return the answer of the whole search as a sentence."""
        if self.attempt is None or self.least is None or self.share is None:
            reason = "no flow has less than its fair part" if self.verdict == FAIR else "the search timed out"
            none_repeats = all(each.exists is False for each in self.attempts if each.period)
            return "no execution repeats itself" if none_repeats and self.verdict == UNKNOWN else reason
        period = self.attempt.period
        long = f"for {counted(self.attempt.horizon - 1, 'step')}"
        if period:
            long = f"for ever, as all repeats every {f'{period} steps' if period > 1 else 'step'}"
        ratio = f"1 : {float(self.ratio):.4g}" if self.ratio else "0"
        return f"{self.least.name} has {float(100 * self.share):.3g} % of what is served (ratio {ratio}), {long}"

    @property
    def why(self) -> list[str]:
        """Sentences, with the trace's numbers, about why a flow receives so few bytes; empty without a trace."""
        if self.attempt is None or self.least is None or self.most is None:
            return []
        sentences = [account.sentence() for account in self.accounts] + contrast(self.least, self.most)
        if self.attempt.period:
            every = "the next step" if self.attempt.period == 1 else f"{self.attempt.period} steps later"
            sentences.append(f"The state of network and senders is the same {every}, so this can go on for ever.")
        return sentences

    @staticmethod
    def _lesser(attempt: Attempt) -> Fraction:
        served = [account.served for account in _accounts(attempt)]
        return min(served) / sum(served)

    def __repr__(self) -> str:
        return f"<{self.controller.name}: {self.verdict}: {self.sentence()}>"

    def _repr_html_(self) -> str:
        table = self.trace._repr_html_() if self.trace else ""
        return markup.paragraphs([f"{self.controller.name}: {self.verdict}: {self.sentence()}"]) + table


def _accounts(attempt: Attempt) -> list[FlowAccount]:
    assert attempt.worst and attempt.worst.trace and attempt.worst.report
    trace, query = attempt.worst.trace, attempt.worst.report.query
    return accounts(query, attempt.worst.controller, query.numbers(trace, attempt.worst.controller))


#: The shares that the search decides, as fractions of a fair share. If a flow may receive less than the first of these
#: fractions, the search ends.
PARTS = (Fraction(1, 500), Fraction(1, 50), THRESHOLD, Fraction(1, 2), Fraction(1))

#: If no execution repeats, the search covers one window. These are the window's length in R_m, and the divisor of
#: the remaining time that gives the window's time.
ROUNDS, WINDOW_TIME = 6, 4

#: A condition that excludes senders which could not send even one packet.
A_PACKET = "ALLT(0, N, lambda n: ALLT(0, T, lambda t: And(c_f[n][t] >= alpha, R * r_f[n][t] >= alpha)))"

#: The window and rate with which a sender of a converged start begins, until the sender decides.
BEFORE_DECIDING = (
    "ALLT(0, N, lambda n: ALLT(0, {}, lambda t: And(2 * N * c_f[n][t] >= C * (R + D), "
    "N * c_f[n][t] <= 2 * C * (R + D), 2 * N * r_f[n][t] >= C)))"
)

#: The condition of a query that serves only to read controllers.
ANYTHING = "T > 0"

#: The buffer for controllers that slow down only after losses. In a small buffer, windows repeat sooner.
SMALL_BUFFER = "1/4 bdp"

#: The length in steps of an execution that shows the first step at which a sender decides.
LOOK = 12


def usual_network(senders: Sequence[Any]) -> str:
    """Return the default network for a starvation search, on which each flow has its own jitter of one R_m.

    The buffer is infinite, unless a controller slows down only after losses, because an infinite buffer loses no bytes.
    """
    name = definitions.chosen("models", "OWN_JITTER")
    network = Network(name, "infinite", LOOK, delay="executions")
    query = Query(network, definitions.chosen("properties", "WORSE"), what=ANYTHING)
    buffer = SMALL_BUFFER if any(_needs_losses(query.controller(each)) for each in senders) else "infinite"
    return f"{name}, buffer {buffer}, jitter 1 rtt"


def _needs_losses(controller: Any) -> bool:
    read = [controller.observations[name] for name in controller.parameters if name in controller.observations]
    measures_delay = any(each.unit == TIME and getattr(each, "few", False) for each in read)
    return "lost" in controller.parameters and not measures_delay and not _compares_ages(controller)


def _compares_ages(controller: Any) -> bool:
    """Return whether a controller compares acknowledged bytes with bytes sent earlier, which bounds their age."""
    for comparison in comparisons(controller.update):
        names = [leaf for leaf in leaves(comparison) if isinstance(leaf, Name)]
        earlier = any(isinstance(each, Past) and each.name == "sent" for each in names)
        if earlier and any(each.name == "acked" for each in names):
            return True
    return False


@isolated
@blamed()
def starve(
    controller: Given,
    beside: Given | None = None,
    *,
    on: str | None = None,
    periods: Sequence[int] = (1, 2, 3, 4),
    told: Callable[[str], None] = lambda what: None,
    solver: SolverOptions = SolverOptions(timeout=60),
) -> Starvation:
    """Find the smallest share of a shared link that a network can leave to one flow (docs/starvation.md).

    Args:
        controller: The controller, which must send by a window.
        beside: The controller of the other flow. By default, all flows run the same controller.
        on: The network in the question language. By default, each flow has its own jitter of one R_m. The default
            buffer is infinite, or 1/4 bdp if a controller slows down only after losses.
        periods: The periods to try, in order. An execution that repeats after a period may go on for ever.
        told: A function that is called with a description of each search when the search begins.
        solver: SolverOptions; the timeout is for all periods together.

    Returns:
        The Starvation. Its verdict is `starves`, `does not starve` or `unknown`.

    Raises:
        InputError: If a controller sends at a rate, or the network has only one flow or cannot be read.
        Disagreement: Two solvers disagree.

    Examples:
        >>> cm.starve("vegas").share
    """
    begin = monotonic()
    senders = [controller] if beside is None else [controller, beside]
    _require_windows(senders)
    if not periods or not all(isinstance(each, int) and each > 0 for each in periods):
        raise InputError(f"the periods are {shown(periods)}; expected numbers of steps above 0, such as 1, 2, 4")
    search = _Search(senders, on, solver, told)
    attempts = tuple(search.attempts(periods))
    return search.answer(attempts, monotonic() - begin)


class _Search:
    """The parts that all attempts share: the network, the controllers, and the remaining time."""

    def __init__(self, senders: list[Any], on: str | None, options: SolverOptions, listener: Callable[[str], None]):
        self._given = senders[0] if len(senders) == 1 else senders
        self._options, self._listener = options, listener
        self._begin = monotonic()
        self._on = on or usual_network(senders)
        self._description = describe(self._on)
        self._placed = self._place()
        self._model = self._placed.network.model
        if self._model.flows < 2:
            found = f"'{shown(self._on)}' has one flow"
            raise InputError(f"{found}; expected at least two, because starvation concerns flows that share a link")
        query = self._query(LOOK, "")
        self._controller: Decides = query.controller(self._given)
        flow_views = query.execution(state=self._controller.state).flows
        first = controllers.first_decision(self._controller, flow_views)
        self._decides = LOOK if first is None else first

    def attempts(self, periods: Sequence[int]) -> Iterator[Attempt]:
        """Yield an Attempt for each period. Stop as soon as some flow gets less than the smallest share to decide.

        If no execution repeats, yield one further Attempt, for a single window.
        """
        nothing, exists = PARTS[0] * self._fair, False
        for period in periods:
            attempt = self._attempt(period, last=period == periods[-1])
            yield attempt
            exists = exists or bool(attempt.exists)
            if attempt.worst and attempt.worst.some is not None and attempt.worst.some <= nothing:
                return
        if not exists:
            yield self._attempt(None, last=True)

    def answer(self, attempts: tuple[Attempt, ...], seconds: float) -> Starvation:
        network, description = self._placed.network, self._description
        jitter = f"jitter {counted(network.jitter, 'step')}"
        where = (
            f"{self._model.flows} flows on {network.model_name}, {description.store} {description.buffer}, {jitter}; "
        )
        where += "each window is at least a packet, each rate a packet per R_m"
        exclusions = [each.worst.left_out for each in attempts if each.worst and each.exists]
        if not exclusions and any(each.exists is False for each in attempts):
            period = next((each.period for each in attempts if each.period), None)
            exclusions = [left_out(self._query(LOOK, "", period), self._controller, later=period is not None)]
        left = tuple(dict.fromkeys(exclusion for each in exclusions for exclusion in each))
        notes = self._placed.notes
        return Starvation(self._controller, self._on, where, notes, self._model.flows, attempts, left, seconds)

    def _place(self, horizon: int | None = None) -> SolverNetwork:
        return place(self._description, True, self._description.flows or 2, horizon)

    @property
    def _fair(self) -> Fraction:
        return Fraction(1, self._model.flows)

    def _query(self, horizon: int, given: str, period: int | None = None) -> Query:
        name = definitions.chosen("properties", "WORSE")
        texts = {"what": ANYTHING, "given": "; ".join(filter(None, (*self._placed.given, given)))}
        return Query(self._place(horizon).network, name, **texts, repeats=period or 0).of_small_packets()

    def _attempt(self, period: int | None, last: bool) -> Attempt:
        """Search in executions of one period or, if the period is None, in one window."""
        horizon = self._horizon(period)
        self._listener(Attempt(period, horizon, 0).executions)
        begin = monotonic()
        try:
            clock = self._clock(period, last)
            with clock.question():
                worst, horizon = self._worst(period, horizon, self._options.with_clock(clock))
        except NoExecution as error:
            why = "no execution" if error.everywhere else "no execution that begins with state as declared"
            return Attempt(period, horizon, monotonic() - begin, None, why, False, error.everywhere)
        except OutOfTime:
            return Attempt(period, horizon, monotonic() - begin, why="timed out")
        undecided = worst.none is None and worst.some is None
        why, exists = ("timed out", None) if undecided else ("", True)
        return Attempt(period, horizon, monotonic() - begin, worst, why, exists)

    def _worst(self, period: int | None, horizon: int, options: SolverOptions) -> tuple[WorstCase, int]:
        """Return the WorstCase and its horizon T, which is longer if a sender treats the first steps differently."""
        xs = [part * self._fair for part in PARTS]
        network = self._place(horizon).network
        given = [*self._placed.given, A_PACKET, *(self._converged() if period is None else ())]
        among = {"low": xs[0], "high": xs[-1], "resolution": 1, "also": xs, "first": THRESHOLD * self._fair}
        about = {"given": "; ".join(given), "period": period}
        try:
            return worst_case.search(self._given, network, "share", **about, **among, options=options), horizon
        except TooShort as error:
            return self._worst(period, error.needed, options)

    def _converged(self) -> tuple[str, ...]:
        """Return the conditions of a converged start, which hold until every sender has made its first decision."""
        start = expectations().starts["converged"]
        return (*start.given, *start.of_flows(self._model.flows), BEFORE_DECIDING.format(self._decides))

    def _horizon(self, period: int | None) -> int:
        """Return the smallest horizon T that shows a period twice, and all decisions of the last period."""
        R, jitter = self._model.round_trip(1), self._placed.network.jitter
        if period is None:
            return ROUNDS * R + 1 + self._decides
        back = max(self._model.looks_back, jitter, R, self._decides)
        return period + 1 + max(period, back)

    def _clock(self, period: int | None, last: bool) -> Clock:
        """Return a clock with half of the remaining time, or all of it for the last period and for a window."""
        limit = self._options.timeout
        if not isinstance(limit, int | float | Fraction):
            return Clock.of(limit)
        left = float(limit) - (monotonic() - self._begin)
        if left <= 0:
            raise OutOfTime("the time is over before the period could be tried; expected more")
        seconds = left if period is None else (left - float(limit) / WINDOW_TIME) / (1 if last else 2)
        return Clock(max(seconds, 0.001))


def _require_windows(senders: Sequence[Any]) -> None:
    for sender in senders:
        if not controllers.sends_by_window(sender):
            name = controllers.given(sender).name
            problem = f"{name} sends at a rate, and flows that share a link send by a window"
            raise InputError(f"{problem}; expected such as cc_qdel_sender for cc_qdel")
