"""The search for the smallest share of a flow. The search tries one period after another within a common timeout."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from time import monotonic
from typing import Any

from ccmatic import controllers
from ccmatic.answers import worst_case
from ccmatic.answers.starvation.answer import THRESHOLD, Attempt, Starvation
from ccmatic.answers.worst_case import NoExecution, WorstCase
from ccmatic.base import TIME, Clock, InputError, OutOfTime, TooShort, blamed, counted, definitions, shown
from ccmatic.contracts import load_definition
from ccmatic.language import Name, Past, comparisons, leaves
from ccmatic.logic.solving import SolverOptions
from ccmatic.questions import SolverNetwork, describe, place
from ccmatic.questions.query import Decides, Network, Query, left_out

#: The shares that the search decides, as fractions of a fair share. If a flow may receive less than the first of these
#: fractions, the search ends.
PARTS = (Fraction(1, 500), Fraction(1, 50), THRESHOLD, Fraction(1, 2), Fraction(1))

#: If no execution repeats, the search covers one window. These are the window's length in R_m, and the divisor of
#: the remaining time that gives the window's time.
ROUNDS, WINDOW_TIME = 6, 4

#: A condition that excludes senders which could not send even one packet.
A_PACKET = "ALLT(0, N, lambda n: ALLT(0, T, lambda t: And(c_f[n][t] >= alpha, R * r_f[n][t] >= alpha)))"

#: The window and rate with which a sender of a converged start begins, until the sender decides.
UNDECIDED = (
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
    """Return the default network for a starvation search.

    Each flow has its own jitter of one R_m. The buffer is infinite, unless a controller slows down only after losses,
    because an infinite buffer loses no bytes.

    Args:
        senders: The controllers, as `controllers.given` accepts them.

    Raises:
        InputError: If one of the controllers cannot be read.
    """
    name = definitions.chosen("models", "OWN_JITTER")
    network = Network(name, "infinite", LOOK, delay="executions")
    query = Query(network, definitions.chosen("properties", "WORSE"), what=ANYTHING)
    buffer = SMALL_BUFFER if any(_needs_losses(query.controller(each)) for each in senders) else "infinite"
    return f"{name}, buffer {buffer}, jitter 1 rtt"


def _needs_losses(controller: Any) -> bool:
    """Return whether a controller reads losses but no delay."""
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


@blamed()
def search(
    controller: Any,
    beside: Any,
    on: str | None,
    periods: Sequence[int],
    listener: Callable[[str], None],
    options: SolverOptions,
) -> Starvation:
    """Search for the starvation of a controller beside another controller; see `ccmatic.api.starve`.

    Args:
        controller: The controller.
        beside: The controller of the other flow; None if both flows run `controller`.
        on: The network in the question language; None for `usual_network`.
        periods: The periods to try, in order.
        listener: A function that is called with a description of each search when the search begins.
        options: SolverOptions; the timeout is for all periods together.
    """
    begin = monotonic()
    senders = [controller] if beside is None else [controller, beside]
    _require_windows(senders)
    if not periods or not all(isinstance(each, int) and each > 0 for each in periods):
        raise InputError(f"the periods are {shown(periods)}; expected numbers of steps above 0, such as 1, 2, 4")
    search = _Search(senders, on, options, listener)
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
        flows = self._description.flows or 2
        self._placed: SolverNetwork = place(self._description, True, flows)
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
        """Return the Starvation of these attempts."""
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

    @property
    def _fair(self) -> Fraction:
        return Fraction(1, self._model.flows)

    def _query(self, horizon: int, given: str, period: int | None = None) -> Query:
        name = definitions.chosen("properties", "WORSE")
        texts = {"what": ANYTHING, "given": "; ".join(filter(None, (*self._placed.given, given)))}
        network = place(self._description, True, self._description.flows or 2, horizon).network
        return Query(network, name, **texts, repeats=period or 0).of_small_packets()

    def _attempt(self, period: int | None, last: bool) -> Attempt:
        """Search for the smallest share in executions of one period or, if the period is None, in one window."""
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
        """Return the WorstCase and its horizon T.

        If a sender treats the first steps differently, T exceeds the requested horizon.
        """
        xs = [part * self._fair for part in PARTS]
        network = place(self._description, True, self._description.flows or 2, horizon).network
        given = [*self._placed.given, A_PACKET, *(self._converged() if period is None else ())]
        among = {"low": xs[0], "high": xs[-1], "resolution": 1, "also": xs, "first": THRESHOLD * self._fair}
        about = {"given": "; ".join(given), "period": period}
        try:
            return worst_case.search(self._given, network, "share", **about, **among, options=options), horizon
        except TooShort as error:
            return self._worst(period, error.needed, options)

    def _converged(self) -> tuple[str, ...]:
        """The conditions of a converged start. These conditions hold until every sender has made its first decision."""
        name = definitions.chosen("properties", "EXPECTS")
        start = load_definition("properties", "PROPERTY", name).starts["converged"]
        return (*start.given, *start.of_flows(self._model.flows), UNDECIDED.format(self._decides))

    def _horizon(self, period: int | None) -> int:
        """Return the smallest horizon T that shows a period twice, and all decisions of the last period."""
        R, jitter = self._model.round_trip(1), self._placed.network.jitter
        if period is None:
            return ROUNDS * R + 1 + self._decides
        back = max(self._model.looks_back, jitter, R, self._decides)
        return period + 1 + max(period, back)

    def _clock(self, period: int | None, last: bool) -> Clock:
        """Return a clock with half of the remaining time.

        The search of the last period or of a window gets all remaining time.

        Raises:
            OutOfTime: If no time remains.
        """
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
