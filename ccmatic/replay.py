"""The check of a trace that trusts no solver, nor its data: every law is read of the trace's own fractions, every rate
is by the controller's own Python; and whether the property is broken."""

from dataclasses import dataclass, replace

from ccmatic import cca
from ccmatic import query as queries
from ccmatic.errors import InputError, located


@dataclass(frozen=True)
class Report:
    """checked: how many laws. faults: the laws that the trace breaks, by name. objectives: the truth of each part
    of the property, none if the trace lacks beliefs that it reads. holds: whether the property does, on this trace."""

    checked: int
    faults: tuple
    objectives: dict
    holds: bool

    def __str__(self):
        broken = ", ".join(name for name, truth in self.objectives.items() if not truth)
        faults = "; ".join(self.faults) or "none"
        return f"{self.checked} laws checked; broken laws: {faults}; objectives not met: {broken or 'none'}"


def replay(trace, file=None, allow_code=False):
    """Check a trace. Raises InputError, naming `file`, if it lacks what its query needs. allow_code: as in
    `queries.from_record`."""
    with located(file):
        return check(queries.from_record(trace.query, allow_code), trace)


def check(query, trace):
    """The report on a trace of a query. Raises InputError if it lacks what the query needs."""
    if query.horizon != trace.horizon:
        raise InputError(f"the query's horizon is {query.horizon}, the trace has {trace.horizon} steps")
    controller = trace.controller and cca.parse(trace.controller, beliefs=query.units())
    beliefs = _read(query, trace, controller)
    x = query.observed(trace, beliefs)
    laws = [*query.laws(x), *query.model.belief_laws(x, beliefs)]
    faults = ["trace.unaltered_since_saved"] if trace.altered else []
    faults += [*_columns_agree(x, trace), *_delays_are_whole(query, trace)]
    faults += [str(law) for law in laws if law.formula is not True]
    faults += _rates_differ(trace, controller)
    if not query.property.judges(query.model) <= beliefs:
        return Report(len(laws), tuple(faults), {}, False)
    objectives = query.property.objectives(query.model, x)
    return Report(len(laws), tuple(faults), objectives, query.property.holds(objectives))


def explained(trace, report):
    """The trace with the objectives that it breaks."""
    return replace(trace, broken=tuple(name for name, truth in report.objectives.items() if not truth))


def complete(query, trace):
    """The trace with the bounds that it leaves out, each from a start that is true."""
    x = query.observed(trace)
    missing = [bound for bound in query.model.bounds() if bound.name not in trace.columns]
    return trace.with_columns(**{bound.name: bound.follow(x) for bound in missing})


def _read(query, trace, controller):
    """The beliefs that are checked: those that the trace states, and those that it must state, which are what can
    be false, what its controller reads, and what the others' laws read."""
    known = query.units().keys()
    named = known & trace.columns.keys()
    if controller is not None:
        named |= query.property.judges(query.model) | (known & set(controller.parameters))
    return query.model.closure(named)


def _columns_agree(x, trace):
    """What follows from the query or from other columns, such as Ld from L a step before, is stated alike."""
    known = {"C": x.C, "R_m": 1, "D": x.D}
    for name, value in known.items():
        if trace.constants.get(name) != value:
            yield f"trace.{name}_as_in_query"
    if x.buffer.finite and not x.buffer.agrees(x.beta):
        yield "trace.beta_as_in_query"
    for name, column in x.columns().items():
        for t, stated in enumerate(trace.columns.get(name, ())):
            if column[t] != stated:
                yield f"trace.{name}_agrees at t={t}"


def _delays_are_whole(query, trace):
    for name in query.model.measures:
        for t, delay in enumerate(trace.columns[name]):
            if delay.denominator != 1 or not 0 <= delay <= trace.horizon:
                yield f"trace.{name}_is_whole at t={t}"


def _rates_differ(trace, controller):
    """The steps at which the controller would not have chosen the trace's rate."""
    if controller is None:
        return
    rows = list(trace.rows())
    for before, row in zip(rows, rows[1:]):
        chosen = controller.rate({**trace.constants, **before})
        if row["r"] != max(chosen, trace.constants["MSS"] / trace.constants["R_m"]):
            yield f"sender.rate_is_the_controllers at t={row['t']}"
