"""Questions: does a controller meet an expectation on a network, from a start?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ccmatic import controllers
from ccmatic.base import InputError, blamed, definitions, shown
from ccmatic.contracts import load_definition
from ccmatic.logic import isolated
from ccmatic.query import Decides, Query
from ccmatic.questions.networks import NetworkDescription, describe, place
from ccmatic.traces import Trace

#: Without an interval, executions are this many R_m long.
ROUNDS = 4


@dataclass(frozen=True)
class Question:
    """One expectation of one controller.

    Args:
        query: The Query that a solver decides.
        controller: The controller; of several flows, those of all.
        text: The expectation as a person wrote it.
        expectation: As the property reads it, in the network's units.
        description: The network as a person described it.
        notes: What the network rounds, in sentences.
        steps: How many steps of the network an R_m has.
    """

    query: Query
    controller: Decides
    text: str
    expectation: Any
    description: NetworkDescription
    notes: tuple[str, ...] = ()
    steps: Fraction = Fraction(1)

    @property
    def where(self) -> str:
        """The network, the length of executions and where they begin, in words."""
        network, expects = self.query.network, self._expects
        period, begins = expects.period, expects.begins
        rounds = (network.horizon - 1) / self.steps
        long = f"for ever, repeated every {period} steps" if period else f"for {float(rounds):.4g} R_m"
        jitter = f"jitter {network.jitter} step{'s' * (network.jitter != 1)}"
        means = f" ({begins.means})" if begins.means else ""
        return f"on {network.model_name}, buffer {self.description.buffer}, {jitter}, {long} {begins.says}{means}"

    def measured(self, trace: Trace) -> str:
        """Return the worst value that a trace of this question shows, in words."""
        reads = trace.columns.keys() & self.query.units().keys()
        x = self.query.observed(trace, reads, self.controller.state)
        clock = "R_m", lambda t: t / self.steps
        return str(self._expects.measured(self.query.model, x, self.expectation, clock))

    def edge(self) -> tuple[Any, list[str]]:
        """Return the quantity whose worst case decides the question, and the conditions of its start.

        Both are as `worst` takes them. Raises InputError for an expectation that is about no amount."""
        quantity, given = self._expects.edge(self.query, self.controller.state)
        return quantity, given

    @property
    def scale(self) -> Fraction:
        """How many of the quantity of `edge`, which counts delays in steps, the unit of the text is."""
        comparison = self.expectation.comparison
        steps = self.query.model.round_trip(1) if comparison.subject == "delay" else 1
        return Fraction(comparison.written[1] * steps)

    @property
    def amount(self) -> Fraction:
        """The expectation's amount in the unit of the text."""
        comparison = self.expectation.comparison
        return Fraction(comparison.amount / comparison.written[1])

    def met(self, worst: Any) -> str:
        """Return the verdict on the expectation that a Worst of its quantity gives."""
        amount, below = self.amount, worst.quantity.worse == "below"
        if worst.none is not None and (worst.none >= amount if below else worst.none <= amount):
            return "holds"
        if worst.some is not None and (worst.some <= amount if below else worst.some >= amount):
            return "violated"
        return "unknown"

    @property
    def _expects(self) -> Any:
        return self.query.property


@blamed()
@isolated
def ask(
    controller: Any,
    on: str,
    expect: str,
    start: str = "any",
    horizon: int | None = None,
    period: int | None = None,
    given: str = "",
) -> Question:
    """Return the Question that texts ask.

    Args:
        controller: The controller: a name, a path, a function or source text.
        on: The network, such as `ccac, buffer 1 bdp, jitter 1 rtt`.
        expect: The expectation, such as `utilisation >= 80% over every 10 rtt` or `share >= 20% beside cubic`.
        start: Where executions begin: `any`, `start`, `converged`, or conditions at the first step.
        horizon: T in steps. None: as many as the expectation needs, at least 4 R_m.
        period: Only executions that repeat themselves after so many steps, and so may go on for ever.
        given: Further conditions on executions, in the language of `avoids`.

    Raises:
        InputError: One of them cannot be read, or they do not fit together.
    """
    name = definitions.chosen("properties", "EXPECTS")
    kind = load_definition("properties", "PROPERTY", name)
    description = describe(on)
    besides = beside([expect])
    senders = [*_each(controller), *besides]
    by_window = any(map(controllers.sends_by_window, senders)) or len(senders) > 1
    if len(senders) > 1:
        _require_windows(senders)
    placed = place(description, by_window, len(senders))
    expectation = kind.parse(expect, placed.units)
    given = "; ".join((*placed.given, *filter(None, [given.strip()])))
    begins = _start(kind, start, placed.units)
    shortest = Query(placed.network, name, what=str(expectation), start=begins, given=given)
    decides = shortest.controller(senders if len(senders) > 1 else controller)
    expects: Any = shortest.property
    needed = expects.least_horizon(shortest, decides.state)
    network = _long_enough(placed.network, needed, horizon, period)
    query = Query(network, name, what=str(expectation), start=begins, given=given, repeats=period or 0)
    _require_sent(expectation, kind.named_at_start(begins), decides)
    if placed.counts_flight:
        _require_no_queue([*(each.subject for each in expectation.conditions), *kind.named_at_start(begins)])
    return Question(
        query, query.controller(decides), expect.strip(), expectation, description, placed.notes, placed.steps
    )


def _require_sent(expectation: Any, at_first: Sequence[str], decides: Decides) -> None:
    """Raise InputError for the window, or the rate, of a controller whose `send` returns none."""
    named = {expectation.comparison.subject, *(each.subject for each in expectation.conditions), *at_first}
    flows = controllers.each_of(decides)[: 1 if expectation.beside and not at_first else None]
    for each in flows:
        sent = each.sent() if isinstance(each, controllers.Stateful) else {}
        for name in {"window", "rate"} & named if sent else ():
            if name not in sent:
                message = f"{each.name} sends by a {' and a '.join(sent)} alone, so it has no {name}"
                raise InputError(f"{message}; expected an expectation about {' or '.join(sent)}")


def _require_no_queue(named: Sequence[str]) -> None:
    """Raise InputError for conditions on a queue that counts bytes in flight: they would leave executions out."""
    if "queue" in named:
        message = "a condition on the queue of a path, where the network counts bytes in flight as well"
        raise InputError(f"{message}, would leave executions out; expected a relative network, or no such condition")


def beside(texts: Sequence[str]) -> list[str]:
    """Return the controllers, each once, beside which expectations are about the first flow. Raises InputError."""
    kind = load_definition("properties", "PROPERTY", definitions.chosen("properties", "EXPECTS"))
    named = (kind.parse(text, _any_units(kind)).beside for text in texts)
    return list(dict.fromkeys(filter(None, named)))


def _each(controller: Any) -> Sequence[Any]:
    return list(controller) if isinstance(controller, list | tuple) else [controller]


def _require_windows(senders: Sequence[Any]) -> None:
    """Raise InputError unless each of several controllers sends by a window."""
    for each in senders:
        if not controllers.sends_by_window(each):
            name = shown(each) if isinstance(each, str) else "one of them"
            with_state = f"{name}_sender"
            known = any(with_state in definitions.shipped(folder) for folder in definitions.CONTROLLERS)
            expected = f"did you mean {with_state}?" if known else "expected controllers with state (docs/stateful.md)"
            raise InputError(f"{name} sends at a rate, and flows that share a network send by a window; {expected}")


def _any_units(kind: Any) -> dict[str, Any]:
    """Units in which an expectation can be taken apart before its network is known."""
    return {**kind.units, **dict.fromkeys(("ns", "us", "ms", "s"), ("time", 1, "rtt")), **_OTHERS}


_OTHERS = {
    **dict.fromkeys(("b", "kb", "mb"), ("bytes", 1, "bdp")),
    **dict.fromkeys(("bit", "kbit", "mbit", "gbit"), ("share", 1, "")),
}


def _start(kind: Any, start: str, units: Any) -> str:
    """A start with canonical units."""
    return start if start in kind.starts else kind.conditions(start, units)


def _long_enough(network: Any, needed: int, horizon: int | None, period: int | None) -> Any:
    """The network with as many steps as the question needs."""
    model = network.model
    if period is not None:
        back = max(model.looks_back, network.jitter, model.round_trip(1))
        needed = max(needed, 2 * period + 1, period + back + 1)
    least = max(needed, network.jitter + 2)
    if horizon is not None and horizon < least:
        raise InputError(f"the horizon is {shown(horizon)}; the question needs at least {least} steps")
    usual = least if period is not None else max(least, ROUNDS * model.round_trip(1) + 1)
    return replace(network, horizon=horizon or usual)
