"""Questions (does a controller meet an expectation on a network?), and the measures of traces by expectations."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from ccmatic import controllers
from ccmatic.base import InputError, blamed, counted, definitions, shown
from ccmatic.contracts import Model, NetworkView
from ccmatic.controllers import Given
from ccmatic.logic import isolated
from ccmatic.networks.traces import Trace, read_trace
from ccmatic.questions.descriptions import NetworkDescription, describe
from ccmatic.questions.horizons import (
    between_steps,
    counters_at_first,
    counts_longer,
    long_enough,
    usual_horizon,
    usual_start,
    with_history,
)
from ccmatic.questions.networks import expectations, place, units
from ccmatic.questions.query import Decides, Query, from_record
from ccmatic.records import ExpectationRecord, PathRecord

#: A unit of time, `s` or `R_m`, and a function from a step to the time.
Clock: TypeAlias = tuple[Literal["s", "R_m"], Callable[[int], Fraction]]


#: An answer to a question: a Judgement or a WorstCase.
Answer = TypeVar("Answer", bound=Any)

#: The default start of window senders. Their state in it is within reach of a running sender.
CONVERGED = "converged"


@dataclass(frozen=True)
class Question:
    """The question whether one controller meets one expectation.

    Args:
        query: The Query that a solver decides.
        controller: The controller. For several flows, this is a ControllerGroup with the controllers of all flows.
        text: The expectation as the user wrote it.
        expectation: The parsed expectation, in the network's units.
        description: The network as the user described it.
        notes: Sentences about the quantities that the network rounds.
        steps: The number of the network's steps per R_m.
        is_usual: Whether the horizon is the default horizon.
        begins_as_usual: Whether the start is the default start.
    """

    query: Query
    controller: Decides
    text: str
    expectation: Any
    description: NetworkDescription
    notes: tuple[str, ...] = ()
    steps: Fraction = Fraction(1)
    is_usual: bool = False
    begins_as_usual: bool = False

    @contextmanager
    def defaults_named(self) -> Iterator[None]:
        """Within this block, errors about a default horizon, or a default start, say that it is the default."""
        with ExitStack() as stack:
            if self.begins_as_usual:
                stack.enter_context(usual_start(self.start))
            if self.is_usual:
                stack.enter_context(usual_horizon(self.query.network, self._expects.period))
            yield

    @property
    def scope(self) -> str:
        """A phrase that limits an answer of "holds" to the horizon; empty for executions that repeat."""
        if self._expects.period or self.expectation.by is not None:
            return ""
        if self.start == "any":
            return f"at any time, in any {self._long}"
        later = "; later steps need a longer --horizon" if self.is_usual else ""
        return f"for the first {self._long}{later}"

    @property
    def _long(self) -> str:
        return f"{float((self.query.network.steps - 1) / self.steps):.4g} R_m"

    @property
    def where(self) -> str:
        """A phrase that names the network, the length of the executions, and their start with its conditions."""
        return f"{self._on} {self.begins}"

    @property
    def lines(self) -> list[str]:
        """The lines of `where` for people: the conditions of the start have a line of their own."""
        begins = self._expects.begins
        means = [f"{begins.says.removeprefix('from ')}: {begins.means}"] if begins.means else []
        return [f"{self._on} {begins.says}", *means]

    @property
    def _on(self) -> str:
        network, period = self.query.network, self._expects.period
        long = f"for ever, repeated every {counted(period, 'step')}" if period else f"for {self._long}"
        jitter = f"jitter {counted(network.jitter, 'step')}"
        store = f"{self.description.store} {self.description.buffer}"
        return f"on {network.model_name}, {store}, {jitter}, {long}"

    @property
    def path(self) -> PathRecord | None:
        """The path of the question in the user's units; None if the question is about a relative network."""
        rate, rtt = self.description.rate, self.description.rtt
        if rate is None or rtt is None:
            return None
        return PathRecord(rate=rate, rtt=rtt, step=rtt / self.steps, packet=self.description.packet)

    def on_path(self, answer: Answer) -> Answer:
        """Return the same answer to this question, whose trace states the path of the question."""
        return replace(answer, trace=replace(answer.trace, path=self.path)) if answer.trace else answer

    @property
    def start(self) -> str:
        """The start of the executions, as users write it."""
        return str(self._expects.start)

    @property
    def begins(self) -> str:
        """A phrase that names the start of the executions, with its conditions."""
        begins = self._expects.begins
        return f"{begins.says}{f' ({begins.means})' if begins.means else ''}"

    def measured(self, trace: Trace) -> str:
        """Return the worst value that a trace of this question shows, as text."""
        clock = "R_m", lambda t: t / self.steps
        return str(
            self._expects.measured(
                self.query.model, self.query.numbers(trace, self.controller), self.expectation, clock
            )
        )

    @isolated
    def advice(self, trace: Trace) -> tuple[str, ...]:
        """Return sentences that suggest the next question after a counterexample.

        If the expectation has an amount, a sentence suggests a question about the worst value. If the first step alone
        violates the expectation, another sentence suggests another start.
        """
        sentences = self._of_start(trace)
        try:
            self.edge()
        except InputError:
            return sentences
        return (*sentences, "`worst` with the same options, which finds the worst value")

    def _of_start(self, trace: Trace) -> tuple[str, ...]:
        if self._expects.start != "any":
            return ()
        worst, _ = self._expects.worst(self.query.model, self.query.numbers(trace, self.controller), self.expectation)
        if worst is None or worst.end > self.query.network.history or self.expectation.met(worst.value):
            return ()
        return ("--from converged, or --from start: the first step alone breaks the expectation",)

    def edge(self) -> tuple[Any, list[str]]:
        """Return the quantity whose worst case decides the question, and the conditions on the start, for `worst`.

        Raises:
            InputError: If the expectation states no amount.
        """
        quantity, given = self._expects.edge(self.query, self.controller.state)
        return quantity, given

    @property
    def scale(self) -> Fraction:
        """The unit in the expectation's text, as a multiple of the unit in `edge`, which counts delays in steps."""
        comparison = self.expectation.comparison
        steps = self.query.model.round_trip(1) if comparison.subject == "delay" else 1
        return Fraction(comparison.written[1] * steps)

    @property
    def amount(self) -> Fraction:
        """The amount in the expectation, in the unit of the expectation's text."""
        comparison = self.expectation.comparison
        return Fraction(comparison.amount / comparison.written[1])

    def met(self, worst: Any) -> str:
        """Return the verdict on the expectation that follows from the WorstCase of its quantity."""
        amount, grows = self.amount, worst.quantity.grows
        if worst.none is not None and (worst.none <= amount if grows else worst.none >= amount):
            return "holds"
        if worst.some is not None and (worst.some >= amount if grows else worst.some <= amount):
            return "violated"
        return "unknown"

    @property
    def _expects(self) -> Any:
        return self.query.property


@blamed()
@isolated
def ask(
    controller: Given | Sequence[Given],
    on: str,
    expect: str,
    *,
    start: str | None = None,
    horizon: int | None = None,
    period: int | None = None,
    given: str = "",
) -> Question:
    """Ask whether a controller meets an expectation on a network (docs/reference/expectations.md).

    Args:
        controller: The controller, or one for each flow of the network.
        on: The network, such as `ccac, buffer 1 bdp, jitter 1 rtt` or `24 mbit, rtt 40 ms, buffer 1 bdp`.
        expect: The expectation, such as `utilisation >= 80% over every 10 rtt` or `share >= 20% beside cubic`.
        start: The states in which executions begin: `any`, `start`, `informed`, `converged`, or conditions such as
            `window <= 2 bdp`. The default is `converged` for controllers with state, unless a period is given, and
            otherwise `any`.
        horizon: T, the number of steps from the start on. By default, as many steps as the expectation needs, but at
            least 4 R_m, and an R_m more for each BDP that has to wait until the expectation breaks.
        period: If given, only executions that repeat after this many steps, and so may go on for ever, count.
        given: Further conditions on executions, in the language of `avoids`, separated by `;`.

    Returns:
        The Question, which `answer` decides.

    Raises:
        InputError: If a text cannot be read, or if the network cannot express the expectation.

    Examples:
        >>> cm.answer(cm.ask("cc_qdel", "ccac, buffer 1 bdp", "queue <= 4 bdp"))
    """
    name = definitions.chosen("properties", "EXPECTS")
    kind = expectations()
    description = describe(on)
    besides = beside([expect])
    senders = [*(controller if isinstance(controller, list | tuple) else [controller]), *besides]
    by_window = any(map(controllers.sends_by_window, senders)) or len(senders) > 1
    if len(senders) > 1:
        _require_windows(senders)
    placed = place(description, by_window, len(senders))
    expectation = kind.parse(expect, placed.units)
    decides = Query(placed.network, name, what=str(expectation)).controller(senders if len(senders) > 1 else controller)
    asked_start = start
    if start is None:
        start = CONVERGED if decides.state and period is None else "any"
    at_first = kind.at_first(start, placed.units)
    begins = " and ".join(map(str, at_first)) or start
    given = "; ".join((*placed.given, *filter(None, [given.strip()])))
    about: dict[str, Any] = {"what": str(expectation), "start": begins, "given": given}
    if start in kind.starts and (paced := _paced(decides, placed.network.model.flows)):
        about["paced"] = " ".join(map(str, paced))
    shortest = Query(placed.network, name, **about)
    expects: Any = shortest.property
    with between_steps(description, placed):
        needed = expects.least_horizon(shortest, decides.state, expectation, at_first)
    network = long_enough(placed.network, needed, expectation.depth, horizon, period)
    if period is None:
        network = with_history(shortest.on(horizon=network.horizon), decides)
        about["given"] = "; ".join(filter(None, [given, *counters_at_first(decides)]))
    query = Query(network, name, **about, repeats=period or 0)
    notes = placed.notes
    if counts_longer(expectation, kind, description.rtt, placed.steps):
        notes += ("bytes are counted in each step, which is longer than R_m: a violation may need all of it",)
    usual = horizon is None, asked_start is None
    question = Question(query, decides, expect.strip(), expectation, description, notes, placed.steps, *usual)
    _require_sent(expectation, [each.subject for each in at_first], decides)
    if placed.counts_flight:
        reached = [each for each in (expectation.comparison,) if expectation.by is not None and ">" in each.relation]
        conditions = (*reached, *expectation.also, *expectation.conditions, *at_first)
        _require_no_queue([each.subject for each in conditions])
    with question.defaults_named():
        return replace(question, controller=query.controller(decides))


def _require_sent(expectation: Any, at_first: Sequence[str], decides: Decides) -> None:
    """Raise InputError if conditions name the window or the rate, but the controller's `send` does not return it."""
    named = {*(each.subject for each in expectation.comparisons), *at_first}
    named |= {"window"} if "growth" in named or expectation.reached.says else set()
    flows = controllers.each_of(decides)[: 1 if expectation.beside and not at_first else None]
    for each in flows:
        sent = each.sent() if isinstance(each, controllers.Stateful) else {}
        for name in {"window", "rate"} & named if sent else ():
            if name not in sent:
                message = f"{each.name} sends by a {' and a '.join(sent)} alone, so it has no {name}"
                raise InputError(f"{message}; expected an expectation about {' or '.join(sent)}")


def _paced(decides: Decides, flows: int) -> list[int]:
    """Return the numbers, from 1, of the flows that have state and send at a rate alone."""
    numbered = enumerate(controllers.of_flows(decides, range(flows)), 1)
    return [n for n, one in numbered if isinstance(one, controllers.Stateful) and one.window is None]


def _require_no_queue(named: Sequence[str]) -> None:
    """Raise InputError for conditions on a queue that also counts bytes in flight.

    Such conditions would exclude too many executions, or bytes in flight alone would meet them.
    """
    if "queue" in named:
        message = "a condition on the queue of a path, where the network counts bytes in flight as well"
        raise InputError(f"{message}, means another queue; expected a relative network, or no such condition")


def beside(texts: Sequence[str]) -> list[str]:
    """Return the controllers that expectations name after `beside`, without duplicates. May raise InputError."""
    kind = expectations()
    # Units for parsing an expectation before its network is known.
    units = {**kind.units, **_OTHERS}
    named = (kind.parse(text, units).beside for text in texts)
    return list(dict.fromkeys(filter(None, named)))


def _require_windows(senders: Sequence[Any]) -> None:
    for each in senders:
        if not controllers.sends_by_window(each):
            name = shown(each) if isinstance(each, str) else "one of them"
            with_state = f"{name}_sender"
            known = any(with_state in definitions.shipped(folder) for folder in definitions.CONTROLLERS)
            expected = f"did you mean {with_state}?" if known else "expected controllers with state (docs/stateful.md)"
            raise InputError(f"{name} sends at a rate, and flows that share a network send by a window; {expected}")


_OTHERS = {
    **dict.fromkeys(("ns", "us", "ms", "s"), ("time", 1, "rtt")),
    **dict.fromkeys(("b", "kb", "mb"), ("bytes", 1, "bdp")),
    **dict.fromkeys(("bit", "kbit", "mbit", "gbit"), ("share", 1, "")),
}


def read(text: str, given: Mapping[str, Any] | None = None) -> Any:
    """Parse an expectation, by default with the units that suit every network. Raise InputError if it is none."""
    kind = expectations()
    return kind.parse(text, given or kind.units)


def judge(model: Model, x: NetworkView, text: str, expectation: Any, clock: Clock | None = None) -> ExpectationRecord:
    """Judge an execution of numbers by an expectation, which `read` parsed from `text`.

    By default, times are in R_m and count from the first step. Raise InputError if the execution does not show the
    quantity of the expectation, or is too short.
    """
    worst, says = expectations().worst(model, x, expectation, clock)
    name, time = clock or ("R_m", lambda t: Fraction(t, x.R))
    met = worst is not None and expectation.met(worst.value)
    unit, factor = expectation.written
    shown = worst is not None and worst.value != inf
    return ExpectationRecord(
        expect=" ".join(text.split()),
        verdict="not applicable" if worst is None else "met" if met else "not met",
        value=worst.value / factor if shown else None,
        unit=unit,
        at_least=worst is not None and worst.at_least,
        flow=None if worst is None or worst.flow is None else worst.flow + 1,
        begin=None if worst is None else float(time(worst.begin)),
        end=None if worst is None else float(time(worst.end)),
        clock=name,
        measured=says,
    )


@isolated
def measure(trace: Trace | str | Path, expectation: str, *, allow_code: bool = False) -> ExpectationRecord:
    """Judge a trace by an expectation (docs/reference/expectations.md), exactly.

    `measure` does not check whether the trace obeys the laws of its network; `replay` does.

    Args:
        trace: The trace or its file, such as a counterexample or the trace of a simulated run.
        expectation: The expectation, such as `utilisation >= 80% over every 4 rtt`. Its units are those of the trace's
            path, if the trace states one.
        allow_code: As in `replay`.

    Returns:
        The verdict (`met`, `not met` or `not applicable`), and the worst value with the steps at which it occurs.

    Raises:
        InputError: If the expectation cannot be read, or the trace does not show its quantity.

    Examples:
        >>> cm.measure("results/gallery/late_drain.json", "queue <= 4 bdp").verdict
    """
    trace = read_trace(trace)
    query = from_record(trace.query, allow_code)
    controller = None if trace.controller is None else query.read_controller(trace.controller)
    x = query.numbers(trace, controller)
    if trace.path is None:
        return judge(query.model, x, expectation, read(expectation))
    steps = trace.path.rtt / trace.path.step
    if steps != x.R if query.model.windows else steps > 1:
        rounds = f"{counted(x.R, 'step')} per R_m" if query.model.windows else "at most one step per R_m"
        raise InputError(f"the path of the trace has {float(steps):.6g} steps per R_m; expected {rounds}")
    scale = Fraction(1) if query.model.windows else steps
    expected = read(expectation, units(trace.path.rate, trace.path.rtt, scale))
    counts_longer(expected, expectations(), trace.path.rtt, steps)
    return judge(query.model, x, expectation, expected, ("R_m", lambda t: t / steps))
