"""The search for the worst value that a network can force on a controller."""

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic
from typing import Any

from ccmatic import controllers
from ccmatic.analysis.worst_case.reached import begun_later
from ccmatic.base import Clock, InputError, OutOfTime, blamed, definitions, exact, last_good, markup, shown, suggest
from ccmatic.contracts import Exclusion, load_definition
from ccmatic.query import Decides, Query, advice, left_out
from ccmatic.solving import SAT, UNKNOWN, UNSAT, SolverOptions
from ccmatic.traces import Trace
from ccmatic.verification import Executions, Part, Report, for_people

FOUND, UNDECIDED = "found", "unknown"

#: The most values among which an edge is looked for.
MOST = 10**6


class NoExecution(InputError):
    """There is no execution of which anything could be the worst.

    Attributes:
        everywhere: Whether none of what was asked happens from state to which the controller comes later, either.
    """

    everywhere = False


@dataclass(frozen=True, repr=False)
class Worst:
    """How bad a network can make it for a controller.

    quantity: its `what` says how bad an execution is, by x; `worse` whether it is worse below x or above. none: the x
    up to which no execution is so bad, as far as that was told in time. some: the x at which `trace` is so bad, next to
    that; `report` is of its replay. None where the range that was searched has no such x.
    verdict: `found`, or `unknown` where what is between the two was not told in time. left_out: the exclusions that
    apply to the question. elsewhere: what is between the two happens for ever, but only from state that the controller
    does not declare; whether it comes to just that is not known.
    advice: sentences that say what to ask next.
    """

    controller: Decides
    quantity: Any
    none: Fraction | None
    some: Fraction | None
    verdict: str
    seconds: float
    trace: Trace | None = None
    report: Report | None = None
    left_out: tuple[Exclusion, ...] = ()
    elsewhere: bool = False
    advice: tuple[str, ...] = ()

    def in_units(self, scale: Fraction, unit: str) -> "Worst":
        """Return the same with x in another unit. scale: how many of today's one is. unit: its name, or empty."""
        none, some = (None if x is None else x / scale for x in (self.none, self.some))
        quantity = replace(self.quantity, unit=unit or self.quantity.unit)
        return replace(self, quantity=quantity, none=none, some=some)

    @property
    def index(self) -> tuple[Fraction | None, Fraction | None] | None:
        """The quantity's index, at `none` and at `some`; None if it has no index."""
        if self.quantity.index is None:
            return None
        _, of = self.quantity.index
        none, some = (None if x is None else of(x) for x in (self.none, self.some))
        return none, some

    @property
    def never(self) -> bool:
        """Whether a condition of one's own, which says nothing of other x, is true of no execution with any x that was
        asked."""
        return self.quantity.worse is None and self.some is None and self.verdict == FOUND

    def sentence(self) -> str:
        """What was found, in words."""
        worse, unit = self.quantity.worse, self.quantity.unit
        if self.none is None and self.some is None and not self.elsewhere:
            return "nothing was told in time"
        if self.quantity.low == self.quantity.high:
            return "no execution is so" if self.some is None else "an execution is so"
        never, sometimes = ("none is so with x =", "one is with x =") if worse is None else (f"never {worse}", worse)
        if self.never:
            return f"none is so with x = {self.none}, nor with any other that was asked"
        parts = [f"{never} {self.none}"] if self.none is not None else []
        parts += [f"{sometimes} {self.some}"] if self.some is not None else []
        between = "happens only from state that is not declared" if self.elsewhere else "was not told in time"
        late = f"; what is between {between}" if self.verdict == UNDECIDED else ""
        late = late or ("" if self.none is not None else "; of what is worse nothing was asked")
        return f"{', '.join(parts)}{f' {unit}' if unit else ''}{self._index_bounds()}{late}"

    def _index_bounds(self):
        if self.index is None:
            return ""
        bounds = [
            f"{word} {at}" for word, at in zip(("never below", "below"), self.index, strict=True) if at is not None
        ]
        return f"; {self.quantity.index[0]} {', '.join(bounds)}"

    def __repr__(self):
        return f"<{self.controller.name}: {self.sentence()}>"

    def _repr_html_(self):
        table = self.trace._repr_html_() if self.trace else ""
        return markup.paragraphs([f"{self.controller.name}: {self.sentence()}"]) + table


@blamed()
def search(
    controller,
    network,
    of="utilisation",
    start="any",
    given="",
    period=None,
    at=None,
    low=None,
    high=None,
    resolution=None,
    also=(),
    first=None,
    listener=lambda x: None,
    options=SolverOptions(),
) -> Worst:
    """Return the Worst of a quantity; see `ccmatic.api.worst`. of: or a Quantity itself. also: further x to decide.
    first: the x to decide first. listener: receives each x before the solver decides it. options: SolverOptions; the
    timeout is for each x."""
    begin = monotonic()
    name = definitions.chosen("properties", "WORSE")
    kind = load_definition("properties", "PROPERTY", name)
    if start not in kind.starts:
        raise InputError(f"the start is '{shown(start)}'; {suggest(start, kind.starts)}")
    quantity = kind.quantity(of) if isinstance(of, str) else of
    quantity.require(of, network.model_name, network.model, network.horizon)
    xs = _range(quantity, network, *((low, high) if at is None else (at, at)), resolution)
    xs = sorted({*xs, *also})
    quantity = quantity.up_to(xs[-1], network.horizon)
    thresholds = {"what": quantity.what, "given": "; ".join(filter(None, (kind.starts[start], given.strip())))}
    query = Query(network, name, **thresholds).of_small_packets()
    decides = query.controller(controller)
    if period is not None:
        query = Query(network, name, **thresholds, repeats=period).of_small_packets()
    controllers.require_order(decides, network.jitter)
    edge = _Edge(query, decides, xs, listener, options)
    none, some, verdict = edge.find(quantity.worse, first)
    trace, report = edge.shown(some) if some is not None else (None, None)
    seconds = monotonic() - begin
    left = left_out(query, decides, later=period is not None)
    more = advice(query, decides, verdict == UNDECIDED)
    return Worst(decides, quantity, none, some, verdict, seconds, trace, report, left, edge.elsewhere, more)


def _range(quantity, network, low, high, resolution):
    """The values of x, rising. Raises InputError."""
    most = (network.horizon - 1) // 2 if quantity.high is None else quantity.high
    first, last, step = (
        exact(default if value is None else value)
        for value, default in ((low, quantity.low), (high, most), (resolution, quantity.step))
    )
    if not 0 <= first <= last or step <= 0 or (last - first) / step > MOST:
        problem = f"x is looked for from {first} to {last} in steps of {step}"
        raise InputError(f"{problem}; expected 0 <= low <= high, and at most {MOST} steps above 0")
    count = int((last - first) / step)
    xs = [first + step * n for n in range(count + 1)]
    return xs if xs[-1] == last else [*xs, last]


class _Edge:
    """The search for neighbours among the x at which answers differ.

    A controller that has run for long may have other state than it declares. So of what repeats itself for ever none is
    so bad only if none is that begins with state to which it may come. elsewhere: only one from such state is.
    """

    def __init__(self, query, controller, xs, listener, options):
        self._query, self._controller, self._xs, self._listener = query, controller, xs, listener
        self._clock = Clock.of(options.timeout)
        self._options = options.with_clock(self._clock)
        self._executions, self._traces, self._answers = self._of(controller, query), [], {}
        later = begun_later(query, controller, self._options) if query.property.period else None
        self._anywhere = query if query.jitter > 1 else query.on(model=query.model.begun_anywhere())
        self._later, self.elsewhere = later and self._of(later, self._anywhere), False
        self._is_monotone = False

    def _of(self, controller, query):
        """The Executions of a controller of which what is given is true."""
        (way,) = query.property.ways_to_fail(query.model, query.buffer)
        existence = replace(way, name="an execution", formula=way.premise or (lambda x: True))
        reads = query.units().keys() & {*controller.parameters}
        return Executions(Part(query, existence, self._options, reads, controller.state), controller)

    def find(self, worse, first=None):
        """(none, some, verdict), as a Worst has them. Where one is so by the least that is asked, there is one: whether
        there is any at all is then not asked, which of executions that repeat themselves takes longest. Raises
        NoExecution."""
        if self._falls(worse):
            self._xs = self._xs[::-1]
        self._is_monotone = worse is not None
        if first is not None:
            self._answer(first)
        if self._answer(self._xs[-1]) != SAT and self._ask() == UNKNOWN:
            return None, None, UNDECIDED
        good = last_good(len(self._xs), lambda index: self._answer(self._xs[index]) == UNSAT)
        if self.elsewhere:
            last_good(len(self._xs), lambda index: self._answer(self._xs[index]) != SAT)
        none = self._xs[good] if good >= 0 else None
        some = next((x for x in self._xs if self._answers.get(x) == SAT), None)
        decided = good + 1 == len(self._xs) or self._answers[self._xs[good + 1]] == SAT
        return none, some, FOUND if decided else UNDECIDED

    def shown(self, x):
        """The trace that was found to be so bad, made readable, and the Report of its replay; ends the search."""
        part, trace = self._executions.part, self._trace(x)
        part.query, part.way = self._at(x)
        part.checker.add(part.way.formula(part.x))
        part.trace = replace(trace, query=part.query.record())
        with self._clock.question():
            return for_people(part, self._controller)

    def _at(self, x, query=None):
        """The query about this x, and the way to be so bad."""
        query = query or self._query
        query = replace(query, property=replace(query.property, x=x))
        (way,) = query.property.ways_to_fail(query.model, query.buffer)
        return query, way

    def _falls(self, worse):
        """Whether it is the lower x at which executions are so bad; asked of none of the answers, if that is known."""
        if worse is not None:
            return worse == "above"
        return self._answer(self._xs[0]) == SAT or self._answer(self._xs[-1]) == UNSAT

    def _answer(self, x):
        """SAT, UNSAT, or UNKNOWN."""
        if x not in self._answers and self._is_refuted(x):
            self._answers[x] = UNSAT
        if x not in self._answers:
            self._listener(x)
            self._answers[x] = SAT if self._trace(x) else self._ask(x)
            if self._answers[x] == UNSAT and self._later:
                self._answers[x] = self._ask_later(x)
        return self._answers[x]

    def _is_refuted(self, x):
        """Whether no execution is so bad, as none is so for an x that is less bad."""
        less_bad = self._xs[self._xs.index(x) + 1 :]
        return self._is_monotone and any(self._answers.get(other) == UNSAT for other in less_bad)

    def _trace(self, x):
        """A trace that was found and is so bad; None if none is."""
        _, way = self._at(x)
        return next((trace for trace in reversed(self._traces) if way.formula(self._observed(trace)) is True), None)

    def _observed(self, trace):
        beliefs = trace.columns.keys() & self._query.units().keys()
        return self._query.observed(trace, beliefs, self._controller.state)

    def _ask(self, x=None):
        """Whether there is an execution, which is so bad if x is given; its trace is then kept."""
        answer, part = UNKNOWN, self._executions.part
        with suppress(OutOfTime), self._clock.question():
            answer, trace = self._executions.find(*([] if x is None else [self._at(x)[1].formula(part.x)]))
            self._traces += [trace] if trace else []
        if x is None and answer == UNSAT:
            error = NoExecution(self._empty())
            error.everywhere = all(other == UNSAT for other in self._answers.values())
            raise error
        return answer

    def _ask_later(self, x):
        """UNSAT if none is so bad that begins with state to which the controller may come, else UNKNOWN."""
        answer = UNKNOWN
        with suppress(OutOfTime), self._clock.question():
            answer, _ = self._later.find(self._at(x, self._anywhere)[1].formula(self._later.part.x))
        self.elsewhere = self.elsewhere or answer == SAT
        return UNSAT if answer == UNSAT else UNKNOWN

    def _empty(self):
        """That there is no execution, and of what."""
        network, condition = self._query.network, self._query.property
        of = [f"repeats itself every {condition.repeats} steps"] if condition.repeats else []
        of += [f"has {condition.given}"] if condition.given else []
        what = f"execution of {self._controller.name}{' that ' if of else ''}{' and '.join(of)}"
        where = f"{network.model_name} with the buffer {network.buffer} and the horizon {network.horizon}"
        excluded = "; ".join(map(str, left_out(self._query, self._controller)))
        what += f" (left out: {excluded})" if excluded else ""
        return f"{where} has no {what}, so that no value is the worst; expected another period, or less to be given"
