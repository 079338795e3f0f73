"""The replay of a trace. A replay trusts neither a solver nor the trace's data.

The replay evaluates every law on the trace's own fractions, computes every rate with the controller's own Python, and
decides whether the trace violates the property.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from pathlib import Path

from ccmatic import base
from ccmatic.base import InputError, counted, located
from ccmatic.contracts import Bounds, Execution, Law
from ccmatic.networks.traces import Trace, read_trace
from ccmatic.questions import query as queries
from ccmatic.questions.query import Decides, Query

#: A pattern for names of controllers that messages may print. In an untrusted trace, other names could hide a part of a
#: message.
_NAME = re.compile(r"[\w.+-]{1,80}", re.ASCII)


class Outcome(Enum):
    """The result of judging an execution by the property. Only BREAKS is evidence against a controller."""

    BREAKS = "breaks"
    KEEPS = "keeps"
    CANNOT_BE_JUDGED = "cannot be judged"


@dataclass(frozen=True)
class Report:
    """The outcome of a replay.

    Attributes:
        query: The query of the trace.
        controller: The controller of the trace. None if no controller chose the rates.
        checked: The number of laws that were checked.
        faults: The laws that the trace violates, by name and step.
        objectives: The objectives of the property by name, and whether the trace meets each. The dict is empty if the
            trace lacks beliefs that the property reads.
        outcome: The outcome for the property. A trace with faults cannot be judged.
        reason: The reason why the trace cannot be judged, or None.
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
        """The names of the objectives that the trace does not meet."""
        return tuple(name for name, truth in self.objectives.items() if not truth)

    def __str__(self) -> str:
        faults, unmet = "; ".join(self.faults) or "none", ", ".join(self.unmet) or "none"
        return f"{counted(self.checked, 'law')} checked; broken laws: {faults}; objectives not met: {unmet}"


def replay(trace: Trace | str | Path, *, allow_code: bool = False) -> Report:
    """Check every law that a trace must obey by exact arithmetic, without a solver.

    Args:
        trace: The trace, or its file.
        allow_code: Whether to run the files that the trace names as model or property. Otherwise only shipped ones are
            accepted.

    Returns:
        The Report. Its `faults` list the laws that the trace breaks. Its `outcome` states whether the trace breaks its
        property.

    Raises:
        InputError: If the file is no trace, or the trace lacks a value that its query needs.
    """
    file, trace = None if isinstance(trace, Trace) else str(trace), read_trace(trace)
    with located(file):
        query = queries.from_record(trace.query, allow_code)
        if base.blamed_files():
            with base.blamed():
                controller = _controller(query, trace)
                query.encode(controller.state if controller else ())
        return check_trace(query, trace)


@base.blamed()
def check_trace(query: Query, trace: Trace) -> Report:
    """Return the report on a trace of a query. Raise InputError if the trace lacks a value that the query needs."""
    if query.horizon != trace.horizon:
        raise InputError(f"the query's horizon is {query.horizon}, the trace has {counted(trace.horizon, 'step')}")
    controller = _controller(query, trace)
    beliefs = _read(query, trace, controller)
    x = query.observed(trace, beliefs, controller.state if controller else ())
    try:
        # Here the laws are evaluated on numbers: each formula becomes True or False, without a solver.
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
        return replace(
            report, reason="no controller chose its rates, and it fails in no way that is open to every controller"
        )
    return replace(report, outcome=Outcome.BREAKS)


def explained(trace: Trace, report: Report) -> Trace:
    """Return the trace, whose field `broken` lists the objectives that it does not meet by the Report."""
    return replace(trace, broken=report.unmet)


@base.blamed()
def complete(query: Query, trace: Trace) -> Trace:
    """Return the trace with a column for each bound of the model that has no column yet.

    Each bound starts at a value that is true of the path, and then follows the samples of each step.
    """
    x = query.observed(trace)
    missing = [bound for bound in query.model.bounds() if bound.name not in trace.columns]
    return trace.with_columns(**{bound.name: bound.follow(x) for bound in missing})


def _controller(query: Query, trace: Trace) -> Decides | None:
    if trace.controller is None:
        return None
    name = trace.controller_name or ""
    return query.read_controller(trace.controller, *([name] if _NAME.fullmatch(name) else []))


def _read(query: Query, trace: Trace, controller: Decides | None) -> set[str]:
    """Return the names of the beliefs that the replay checks: those that the trace contains or must contain.

    A trace must state a belief that can be false, that the controller reads, or that the laws of another such belief
    read. With a deployed property, the replay checks all beliefs that can be false, even if no controller chose the
    rates.
    """
    readable = query.units().keys()
    named = readable & trace.columns.keys()
    if controller is not None or query.property.deployed:
        named |= query.property.judges(query.model)
    if controller is not None:
        named |= readable & set(controller.parameters)
    return query.model.closure(named)


def _names_are_declared(query: Query, x: Execution, trace: Trace) -> Iterator[str]:
    """Yield each column and constant that neither model nor buffer declares, and that no other check would read."""
    for name in sorted(x.columns().keys() - trace.columns.keys()):
        raise InputError(f"the trace has no {name}")
    columns = {*x.columns(), *query.model.measures}
    constants = {"C", "R_m", "D", "MSS", *(["beta"] if x.buffer.finite else []), *x.constants}
    for kind, stated, declared in (("column", trace.columns, columns), ("constant", trace.constants, constants)):
        for name in stated:
            if name not in declared:
                yield f"trace.{name}_is_a_{kind}_of_the_query"


def _columns_agree(x: Execution, trace: Trace) -> Iterator[str]:
    """Yield each value that differs from its definition by the query or by other columns, as Ld from L before."""
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
    if controller is not None:
        for flow in x.flows:
            yield from (Law("sender", *law) for law in controller.laws(flow))


def _does_not_break(query: Query, trace: Trace, objectives: Mapping[str, bool]) -> Iterator[str]:
    keeps = bool(objectives) and query.property.holds(objectives)
    for name in trace.broken:
        if objectives and (keeps or objectives.get(name, True)):
            yield f"trace.breaks '{name}', as it states"


def _fails_at_any_rates(query: Query, x: Execution) -> bool:
    """Return whether the execution violates the property in a way that no controller can prevent."""
    bounds = [x.beliefs[bound.name] for bound in query.model.bounds() if bound.name in x.beliefs]
    moved = any(column[0] != column[x.horizon - 1] for column in bounds)
    return any(
        way.any_rates
        and x.beliefs.keys() >= set(way.reads)
        and not (way.bounds is Bounds.STAY and moved)
        and way.formula(x) is True
        for way in query.property.ways_to_fail(query.model, query.buffer)
    )
