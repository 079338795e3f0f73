"""The check of a trace that trusts no solver, nor its data: every law is read of the trace's own fractions, every rate
is by the controller's own Python; and whether the property is broken."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from ccmatic import base
from ccmatic import query as queries
from ccmatic.base import InputError, located
from ccmatic.contracts import Bounds, Execution, Law
from ccmatic.query import Decides, Query
from ccmatic.traces import Trace


class Outcome(Enum):
    """What an execution says of the property. Only BREAKS is evidence against a controller."""

    BREAKS = "breaks"
    KEEPS = "keeps"
    CANNOT_BE_JUDGED = "cannot be judged"


@dataclass(frozen=True)
class Report:
    """What the replay of a trace found.

    query, controller: of the trace; the controller is None for rates that nobody decided. checked: how many laws were.
    faults: the laws that the trace breaks, by name and step. objectives: each part of the property by name, and whether
    it is met; empty if the trace lacks beliefs that the property reads. outcome: of the property; a trace with faults
    cannot be judged. reason: why it cannot be, in words, or None.
    """

    query: Query
    controller: Decides | None
    checked: int
    faults: tuple[str, ...]
    objectives: Mapping[str, bool]
    outcome: Outcome
    reason: str | None = None

    @property
    def unmet(self) -> tuple[str, ...]:
        """The parts of the property that are not met, by name."""
        return tuple(name for name, truth in self.objectives.items() if not truth)

    def __str__(self) -> str:
        faults, unmet = "; ".join(self.faults) or "none", ", ".join(self.unmet) or "none"
        return f"{self.checked} laws checked; broken laws: {faults}; objectives not met: {unmet}"


def replay(trace: Trace, file: str | None = None, allow_code: bool = False) -> Report:
    """Check a trace. Raises InputError, naming `file`, if it lacks what its query needs. allow_code: as in
    `queries.from_record`."""
    with located(file):
        query = queries.from_record(trace.query, allow_code)
        if base.blamed_files():
            with base.blamed():
                controller = _controller(query, trace)
                query.encode(controller.state if controller else ())
        return check_trace(query, trace)


@base.blamed()
def check_trace(query: Query, trace: Trace) -> Report:
    """The report on a trace of a query. Raises InputError if it lacks what the query needs."""
    if query.horizon != trace.horizon:
        raise InputError(f"the query's horizon is {query.horizon}, the trace has {trace.horizon} steps")
    controller = _controller(query, trace)
    beliefs = _read(query, trace, controller)
    x = query.observed(trace, beliefs, controller.state if controller else ())
    try:
        laws = [*query.laws(x), *query.model.belief_laws(x, beliefs)]
    except KeyError as error:
        raise InputError(f"the trace has no {error.args[0]}, which the laws of its other beliefs read") from None
    faults = ["trace.unaltered_since_saved"] if trace.altered else []
    faults += [*_names_are_declared(query, x, trace), *_columns_agree(x, trace), *_delays_are_whole(query, trace)]
    faults += [str(law) for law in (*laws, *sender_laws(x, controller)) if law.formula is not True]
    unread = sorted(query.property.judges(query.model) - beliefs)
    truths = {} if unread else query.property.objectives(query.model, x)
    objectives = {name: bool(truth) for name, truth in truths.items()}
    faults += _does_not_break(query, trace, objectives)
    report = Report(query, controller, len(laws), tuple(faults), objectives, Outcome.CANNOT_BE_JUDGED)
    if faults:
        return replace(report, reason="it is no execution of this network and controller")
    if unread:
        return replace(report, reason=f"it lacks {', '.join(unread)}, which the property reads")
    if query.property.holds(objectives):
        return replace(report, outcome=Outcome.KEEPS)
    if controller is None and not _fails_at_any_rates(query, x):
        return replace(report, reason="its rates are nobody's, and it fails in no way in which any rates may")
    return replace(report, outcome=Outcome.BREAKS)


def explained(trace: Trace, report: Report) -> Trace:
    """The trace, its `broken` as the Report says: the objectives that are not met, by name."""
    return replace(trace, broken=report.unmet)


@base.blamed()
def complete(query: Query, trace: Trace) -> Trace:
    """The trace with a column for each belief of the model that bounds something and has none yet: from a start that is
    true of the path, moved by the samples of each step. Raises InputError if a sample's column is missing."""
    x = query.observed(trace)
    missing = [bound for bound in query.model.bounds() if bound.name not in trace.columns]
    return trace.with_columns(**{bound.name: bound.follow(x) for bound in missing})


def _controller(query: Query, trace: Trace) -> Decides | None:
    return None if trace.controller is None else query.read_controller(trace.controller)


def _read(query: Query, trace: Trace, controller: Decides | None) -> set[str]:
    """The beliefs that are checked: those that the trace states, and those that it must state, which are what can
    be false, what its controller reads, and what the others' laws read; timeouts read all that can be false."""
    readable = query.units().keys()
    named = readable & trace.columns.keys()
    if controller is not None or query.property.deployed:
        named |= query.property.judges(query.model)
    if controller is not None:
        named |= readable & set(controller.parameters)
    return query.model.closure(named)


def _names_are_declared(query: Query, x: Execution, trace: Trace) -> Iterator[str]:
    """The columns and constants are those that the model and the buffer declare, so that each is compared or read."""
    for name in sorted(x.columns().keys() - trace.columns.keys()):
        raise InputError(f"the trace has no {name}")
    columns = {*x.columns(), *query.model.measures}
    constants = {"C", "R_m", "D", "MSS", *(["beta"] if x.buffer.finite else []), *x.constants}
    for kind, stated, declared in (("column", trace.columns, columns), ("constant", trace.constants, constants)):
        for name in stated:
            if name not in declared:
                yield f"trace.{name}_is_a_{kind}_of_the_query"


def _columns_agree(x: Execution, trace: Trace) -> Iterator[str]:
    """What follows from the query or from other columns, such as Ld from L a step before, is stated alike."""
    expected = {"C": x.C, "R_m": x.R, "D": x.D}
    for name, value in expected.items():
        if trace.constants.get(name) != value:
            yield f"trace.{name}_as_in_query"
    if x.buffer.finite and not (isinstance(x.beta, Fraction) and x.buffer.agrees(x.beta)):
        yield "trace.beta_as_in_query"
    for name, column in x.columns().items():
        for t, stated in enumerate(trace.columns.get(name, ())):
            if column[t] != stated:
                yield f"trace.{name}_agrees at t={t}"


def _delays_are_whole(query: Query, trace: Trace) -> Iterator[str]:
    for name in query.model.measures:
        for t, delay in enumerate(trace.columns[name]):
            if delay.denominator != 1 or not 0 <= delay <= query.model.longest_delay(
                trace.horizon, query.property.period
            ):
                yield f"trace.{name}_is_whole at t={t}"


def sender_laws(x: Execution, controller: Decides | None) -> Iterator[Law]:
    """The laws of the senders of an execution, each of which the controller decides for; none if that is None."""
    if controller is not None:
        for flow in x.flows:
            yield from (Law("sender", *law) for law in controller.laws(flow))


def _does_not_break(query: Query, trace: Trace, objectives: Mapping[str, bool]) -> Iterator[str]:
    """What the trace says that it breaks and does not."""
    keeps = bool(objectives) and query.property.holds(objectives)
    for name in trace.broken:
        if objectives and (keeps or objectives.get(name, True)):
            yield f"trace.breaks '{name}', as it states"


def _fails_at_any_rates(query: Query, x: Execution) -> bool:
    """Whether it goes a way to fail that no controller can rule out."""
    bounds = [x.beliefs[bound.name] for bound in query.model.bounds() if bound.name in x.beliefs]
    moved = any(column[0] != column[x.horizon - 1] for column in bounds)
    return any(
        way.any_rates
        and x.beliefs.keys() >= set(way.reads)
        and not (way.bounds is Bounds.STAY and moved)
        and way.formula(x) is True
        for way in query.property.ways_to_fail(query.model, query.buffer)
    )
