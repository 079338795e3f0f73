"""The search for the worst value that a network can force on a controller."""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic
from typing import Any

from ccmatic import controllers
from ccmatic.answers.verification import Executions, Outcome, Part, Report, for_people, replay
from ccmatic.base import (
    Clock,
    InputError,
    OutOfTime,
    blamed,
    counted,
    definitions,
    exact,
    last_good,
    markup,
    memory,
    shown,
    suggest,
)
from ccmatic.contracts import Exclusion, WayToFail, load_definition
from ccmatic.logic import every, no, some
from ccmatic.logic.solving import SAT, UNKNOWN, UNSAT, SolverOptions
from ccmatic.networks.traces import Trace
from ccmatic.questions.query import Decides, Query, advice, left_out

FOUND, UNDECIDED = "found", "unknown"

#: The largest number of candidate values in a search for an edge value.
MOST = 10**6


class NoExecution(InputError):
    """The error that no execution satisfies the conditions. In this case, no worst value exists.

    Attributes:
        everywhere: Whether the error also covers executions that begin in a state which the controller reaches only
            later. If so, these executions reach none of the decided values x.
    """

    everywhere = False


@dataclass(frozen=True, repr=False)
class WorstCase:
    """The worst value that a network can force on a controller.

    Attributes:
        controller: The controller.
        quantity: The Quantity. Its `what` is a condition on an execution and a value x. Its `worse` states the relation
            to x of the values that satisfy `what`, such as "above".
        none: A value that no execution reaches. It is the decided value of this kind nearest to the edge; None if the
            searched range has no such value.
        some: The value on the other side of the edge, which the execution `trace` reaches; None if the range has no
            such value.
        verdict: `found`, or `unknown` if values between `none` and `some` timed out.
        seconds: The time that the search took.
        trace: The trace that reaches `some`.
        report: The Report of the trace's replay.
        left_out: The Exclusions of the question: the executions that it leaves out, and why. Empty without `none` and
            `some`.
        elsewhere: Whether values between `none` and `some` occur in executions that go on for ever, all of which begin
            in a state outside the controller's declaration. It is unknown whether the controller ever reaches such a
            state.
        advice: Sentences that suggest further questions.
        remembered: Whether the result comes from a Memory. `seconds` is then the time of the original search.
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
    remembered: bool = False

    def in_units(self, scale: Fraction, unit: str) -> "WorstCase":
        """Return the same WorstCase, with its values in another unit.

        Args:
            scale: The new unit as a multiple of the old unit.
            unit: The name of the new unit, or an empty text.
        """
        none, some = (None if x is None else x / scale for x in (self.none, self.some))
        quantity = replace(self.quantity, unit=unit or self.quantity.unit)
        return replace(self, quantity=quantity, none=none, some=some)

    @property
    def index(self) -> tuple[Fraction | None, Fraction | None] | None:
        """The quantity's index, such as Jain's index, at `none` and at `some`; None if the quantity has no index."""
        if self.quantity.index is None:
            return None
        _, of = self.quantity.index
        none, some = (None if x is None else of(x) for x in (self.none, self.some))
        return none, some

    @property
    def never(self) -> bool:
        """Whether the user's own condition holds in no execution, for every value of x that was decided.

        A user's condition does not tell which values of x are worse, so the result for other values remains open.
        """
        return self.quantity.worse is None and self.some is None and self.verdict == FOUND

    def sentence(self) -> str:
        """Return the outcome of the search as a sentence."""
        worse, unit = self.quantity.worse, self.quantity.unit
        if self.none is None and self.some is None and not self.elsewhere:
            return "the search timed out"
        if self.quantity.low == self.quantity.high:
            return "no such execution" if self.some is None else "there is such an execution"
        never, sometimes = ("none with x =", "one with x =") if worse is None else (f"never {worse}", worse)
        if worse is not None and self.none is not None:
            sometimes = f"sometimes {worse}"
        if self.never:
            return f"no such execution with x = {self.none}, nor with any other x that was decided"
        parts = [f"{never} {self.none}"] if self.none is not None else []
        parts += [f"{sometimes} {self.some}"] if self.some is not None else []
        if parts and parts[-1].endswith(" 1"):
            unit = re.sub(r"^(step|packet)s\b", r"\1", unit)
        between = "happen only from state that is not declared" if self.elsewhere else "timed out"
        late = f"; values between them {between}" if self.verdict == UNDECIDED else ""
        late = late or ("" if self.none is not None else "; no worse value was tried")
        return f"{', '.join(parts)}{f' {unit}' if unit else ''}{self._index_bounds()}{late}"

    def _index_bounds(self):
        if self.index is None:
            return ""
        bounds = [
            f"{word} {at}"
            for word, at in zip(("never below", "sometimes below"), self.index, strict=True)
            if at is not None
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
) -> WorstCase:
    """Return the WorstCase of a quantity; `worst` explains the arguments.

    `of` may also be a Quantity. `also` are further x to decide, and `first` is the x to decide first.
    """
    begin = monotonic()
    name = definitions.chosen("properties", "WORSE")
    kind = load_definition("properties", "PROPERTY", name)
    if start not in kind.starts:
        raise InputError(f"the start is '{shown(start)}'; {suggest(start, kind.starts)}")
    quantity = kind.quantity(of) if isinstance(of, str) else of
    quantity.require(of, network.model_name, network.model, network.steps)
    xs = _range(quantity, network, *((low, high) if at is None else (at, at)), resolution)
    xs = sorted({*xs, *also})
    quantity = quantity.up_to(xs[-1], network.steps)
    thresholds = {"what": quantity.what, "given": "; ".join(filter(None, (kind.starts[start], given.strip())))}
    query = Query(network, name, **thresholds).of_small_packets()
    decides = query.controller(controller)
    if period is not None:
        query = Query(network, name, **thresholds, repeats=period).of_small_packets()
    controllers.require_order(decides, network.jitter)

    def decide():
        edge = _Edge(query, decides, xs, listener, options)
        none, some, verdict = edge.find(quantity.grows, first)
        trace, report = edge.shown(some) if some is not None else (None, None)
        seconds = monotonic() - begin
        is_decided = none is not None or some is not None  # otherwise, nothing follows that could leave anything out
        left = left_out(query, decides, later=period is not None) if is_decided else ()
        more = advice(query, decides, verdict == UNDECIDED, edge.late)
        return WorstCase(decides, quantity, none, some, verdict, seconds, trace, report, left, edge.elsewhere, more)

    if options.memory is None:
        return decide()
    about = {"xs": [*map(str, xs)], "first": first and str(first), "worse": quantity.worse}
    asked = "worst", query.record(), controllers.texts_of(decides), options.settings()
    return options.memory.ask(
        lambda: memory.question(*asked, **about), decide, stored, lambda data: recalled(data, decides, quantity)
    )


def _range(quantity, network, low, high, resolution):
    most = (network.steps - 1) // 2 if quantity.high is None else quantity.high
    first, last, step = (
        exact(default if value is None else value)
        for value, default in ((low, quantity.low), (high, most), (resolution, quantity.step))
    )
    if not 0 <= first <= last or step <= 0 or (last - first) / step > MOST:
        problem = f"the range of x is {shown(str(first))} to {shown(str(last))}, in steps of {shown(str(step))}"
        raise InputError(f"{problem}; expected 0 <= low <= high, and at most {MOST} steps above 0")
    count = int((last - first) / step)
    xs = [first + step * n for n in range(count + 1)]
    return xs if xs[-1] == last else [*xs, last]


def stored(worst):
    """Return a WorstCase as data for JSON; None if the solver timed out on a value of x."""
    if worst.verdict != FOUND:
        return None
    return {
        **{name: None if (x := getattr(worst, name)) is None else str(x) for name in ("none", "some")},
        "seconds": worst.seconds,
        "trace": worst.trace and worst.trace.to_json(),
        "left_out": [[each.name, each.reason] for each in worst.left_out],
        "elsewhere": worst.elsewhere,
        "advice": list(worst.advice),
    }


def recalled(data, controller, quantity):
    """Return the WorstCase that `stored` described; None if its trace fails the replay."""
    none, some = (None if data[name] is None else Fraction(data[name]) for name in ("none", "some"))
    trace = data["trace"] and Trace.from_json(data["trace"])
    report = replay(trace, allow_code=True) if trace else None
    if (some is None) != (report is None) or (report and report.outcome is not Outcome.BREAKS):
        return None
    left = tuple(Exclusion(*each) for each in data["left_out"])
    about = {"left_out": left, "elsewhere": data["elsewhere"], "advice": tuple(data["advice"]), "remembered": True}
    return WorstCase(controller, quantity, none, some, FOUND, data["seconds"], trace, report, **about)


class _Edge:
    """The search for two neighbouring values of x with different answers.

    After a long time, a controller may be in a state that it does not declare. For executions that repeat for ever, the
    answer "no execution reaches x" is therefore valid only if it covers every state that the controller may reach.
    `elsewhere` says whether an execution reaches some x, but only from an undeclared state, and `late` whether some x
    timed out before a solver received the question.
    """

    def __init__(self, query, controller, xs, listener, options):
        self._query, self._controller, self._xs, self._listener = query, controller, xs, listener
        self._clock = Clock.of(options.timeout)
        self._options = options.with_clock(self._clock)
        self._executions, self._traces, self._answers = self._of(controller, query), [], {}
        with self._clock.question():
            later = begun_later(query, controller, self._options) if query.property.period else None
        self._anywhere = query if query.jitter > 1 else query.on(model=query.model.begun_anywhere())
        self._later, self.elsewhere = later and self._of(later, self._anywhere), False
        self._is_monotone = self.late = False

    def _of(self, controller, query):
        (way,) = query.property.ways_to_fail(query.model, query.buffer)
        existence = replace(way, name="an execution", formula=way.premise or (lambda x: True))
        reads = query.units().keys() & {*controller.parameters}
        return Executions(Part(query, existence, self._options, reads, controller.state), controller)

    def find(self, grows, first=None):
        """Search for the edge. Return (none, some, verdict), which are fields of a WorstCase.

        If an execution reaches the mildest value of x, then executions exist. Otherwise the search must check whether
        any exists, and raise NoExecution. For executions that repeat, this check takes longer than all others.
        """
        # From here on, the x are ordered from the worst to the mildest.
        if self._falls(grows):
            self._xs = self._xs[::-1]
        self._is_monotone = grows is not None
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
        """Return the trace that reaches x, in readable form, and the Report of its replay. This ends the search."""
        part, trace = self._executions.part, self._trace(x)
        part.query = replace(self._query, property=replace(self._query.property, x=x))
        (part.way,) = part.query.property.ways_to_fail(part.query.model, part.query.buffer)
        part.checker.add(part.way.formula(part.x))
        part.trace = replace(trace, query=part.query.record())
        with self._clock.question():
            return for_people(part, self._controller)

    def _reaches(self, execution, x):
        """Return the condition that an execution of this search reaches x. All these executions satisfy the premise."""
        condition = replace(self._query.property, x=x, given="", repeats=0)
        (way,) = condition.ways_to_fail(self._query.model, self._query.buffer)
        return way.formula(execution)

    def _falls(self, grows):
        """Return whether executions reach the lower values of x. If that is unknown, the ends of the range decide."""
        if grows is not None:
            return grows
        return self._answer(self._xs[0]) == SAT or self._answer(self._xs[-1]) == UNSAT

    def _answer(self, x):
        """Return SAT if an execution reaches x, UNSAT if no execution does, or UNKNOWN."""
        if x not in self._answers and self._is_monotone:
            milder = self._xs[self._xs.index(x) + 1 :]
            if any(self._answers.get(other) == UNSAT for other in milder):
                self._answers[x] = UNSAT
        if x not in self._answers:
            self._listener(x)
            self._answers[x] = SAT if self._trace(x) else self._ask(x)
            if self._answers[x] == UNSAT and self._later:
                self._answers[x] = self._ask_later(x)
        return self._answers[x]

    def _trace(self, x):
        return next((trace for trace, observed in reversed(self._traces) if self._reaches(observed, x) is True), None)

    def _ask(self, x=None):
        """Check whether an execution exists, and store its trace. If x is given, the execution must reach x."""
        answer, part = UNKNOWN, self._executions.part
        with suppress(OutOfTime), self._clock.question():
            answer, trace = self._executions.find(*([] if x is None else [self._reaches(part.x, x)]))
            self._traces += [(trace, self._query.numbers(trace, self._controller))] if trace else []
        self.late = self.late or self._clock.late
        if x is None and answer == UNSAT:
            error = NoExecution(self._empty())
            error.everywhere = all(other == UNSAT for other in self._answers.values())
            raise error
        return answer

    def _ask_later(self, x):
        """Return UNSAT if no execution reaches x, even from any state that the controller may reach, else UNKNOWN."""
        answer = UNKNOWN
        with suppress(OutOfTime), self._clock.question():
            answer, _ = self._later.find(self._reaches(self._later.part.x, x))
        self.late = self.late or self._clock.late
        self.elsewhere = self.elsewhere or answer == SAT
        return UNSAT if answer == UNSAT else UNKNOWN

    def _empty(self):
        network, condition = self._query.network, self._query.property
        of = [f"repeats itself every {counted(condition.repeats, 'step')}"] if condition.repeats else []
        of += [f"has {condition.given}"] if condition.given else []
        what = f"execution of {self._controller.name}{' that ' if of else ''}{' and '.join(of)}"
        store = f"{network.model.store} {network.buffer}"
        where = f"{network.model_name} with the {store} and the horizon {network.horizon}"
        excluded = "; ".join(map(str, left_out(self._query, self._controller)))
        what += f" (left out: {excluded})" if excluded else ""
        return f"{where} has no {what}, so there is no worst value; expected another period, or weaker conditions"


def begun_later(query, controller, options):
    """Return the controller with all states that it may ever reach as initial states, and possibly further states.

    A declaration limits the controller's state. It holds at each step if no step leads from a declared state to an
    undeclared one. Declarations that do not hold, or whose check timed out, are dropped one after another until all
    others hold. If each one holds at each step, return None.
    """
    declared = [each for each in controller.state if each.is_restricted]
    kept = _lasting(query, controller, declared, options) if declared else []
    dropped = {each.name for each in declared} - {each.name for each in kept}
    return controllers.begun_anywhere(controller, dropped) if dropped else None


def _lasting(query, controller, declared, options):
    """Return the largest set of declarations which no step breaks, if all of them hold at first.

    The executions are encoded once, without any declaration. Each question then adds those that are left.
    """
    query = query.on(model=query.model.begun_anywhere())
    query = replace(query, property=replace(query.property, repeats=0, given="", x=0))
    free = controllers.begun_anywhere(controller, {each.name for each in declared})
    try:
        excluded = left_out(query, free, options=options)
    except OutOfTime:
        return []
    if any(each.name == "before the trace" for each in excluded):
        return []  # these executions do not show every behaviour of the controller
    reads = query.units().keys() & {*controller.parameters}
    executions = Executions(Part(query, WayToFail("an execution", lambda x: True), options, reads, free.state), free)
    x, left = executions.part.x, declared
    each = controllers.of_flows(controller, x.flows)
    first = {flow.number: _first_decision(one, flow) for one, flow in zip(each, x.flows, strict=True)}
    while left:
        holds = [
            (m, flow, t) for m in left for flow in x.flows if m.flow in (None, flow.number) for t in range(x.horizon)
        ]
        at_first = [m.first(flow, t) for m, flow, t in holds if t < first[flow.number]]
        answer, trace = UNKNOWN, None
        with suppress(OutOfTime):
            # One step may break a declaration that the next step restores.
            answer, trace = executions.find(every(at_first), some([no(m.first(flow, t)) for m, flow, t in holds]))
        if answer != SAT:
            return left if answer == UNSAT else []
        seen = query.numbers(trace, controller)
        broken = {m.name for m, flow, t in holds if not m.first(seen.flows[flow.number - 1], t)}
        left = [each for each in left if each.name not in broken]
    return left


def _first_decision(controller, flow):
    """Return the first step at which a flow's controller decides. Until then, its state is as at first."""
    first = controller.first_decision(flow)
    return flow.horizon if first is None else first
