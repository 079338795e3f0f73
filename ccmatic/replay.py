"""The check of a trace that trusts no solver: every law by exact arithmetic, every rate by the controller's own
Python, and whether the property is broken."""

from dataclasses import dataclass, replace

from ccmatic import cca
from ccmatic import query as queries
from ccmatic.belief import is_bound
from ccmatic.errors import InputError
from ccmatic.formula import equal, evaluator, linear


@dataclass(frozen=True)
class Report:
    """checked: how many laws. faults: the laws that the trace breaks, by name. objectives: the truth of each part
    of the property. holds: whether the property does, on this trace."""

    checked: int
    faults: tuple
    objectives: dict
    holds: bool

    def __str__(self):
        broken = ", ".join(name for name, truth in self.objectives.items() if not truth)
        faults = "; ".join(self.faults) or "none"
        return f"{self.checked} laws checked; broken laws: {faults}; objectives not met: {broken or 'none'}"


def replay(trace, file=None):
    """Check a trace. Raises InputError, naming `file`, if it lacks what its query needs."""
    query = queries.from_record(trace.query, file)
    if query.horizon != trace.horizon:
        raise InputError(f"the query's horizon is {query.horizon}, the trace has {trace.horizon} steps", file)
    x = query.execution()
    beliefs = reads(query, trace)
    values = _assignment(query, x, trace, beliefs, file)
    value = evaluator(values)
    faults = ["trace.unaltered_since_saved"] if trace.altered else []
    faults += _columns_agree(x, trace, value)
    laws = [*query.laws(x), *query.model.belief_laws(x, beliefs)]
    faults += [str(law) for law in laws if not value(law.formula)]
    faults += list(_rates_differ(query, trace))
    if trace.controller is None:
        return Report(len(laws), tuple(faults), {}, False)
    objectives = {name: value(formula) for name, formula in query.property.objectives(query.model, x).items()}
    return Report(len(laws), tuple(faults), objectives, query.property.holds(objectives))


def explained(trace, report):
    """The trace with the objectives that it breaks."""
    return replace(trace, broken=tuple(name for name, truth in report.objectives.items() if not truth))


def reads(query, trace):
    """The beliefs that a trace must state: every bound and what the controller reads; without one, what it has."""
    if trace.controller is None:
        return {belief.name for belief in query.model.beliefs if belief.name in trace.columns}
    bounds = {belief.name for belief in query.model.beliefs if is_bound(belief)}
    true_states = {b.name for b in query.model.beliefs if getattr(b, "holds_at", None)}
    return bounds | true_states | ({b.name for b in query.model.beliefs} & set(_controller(query, trace).parameters))


def _controller(query, trace):
    return cca.parse(trace.controller, beliefs=query.units())


def _assignment(query, x, trace, beliefs, file):
    """The value of each unknown of the execution, by its name."""
    values = {}
    try:
        for name, unknowns in x.columns().items():
            if name in x.beliefs and name not in beliefs:
                continue
            for unknown, value in zip(unknowns, trace.columns[name]):
                values.update((symbol.symbol_name(), value) for symbol in unknown.coefficients)
        for name in query.model.measures:
            pairs = getattr(x, name).pairs(trace.columns[name])
            values.update((truth.symbol_name(), value) for truth, value in pairs)
        values["alpha"] = trace.constants["MSS"]
        if x.beta is not None:
            values["beta"] = trace.constants["beta"]
    except KeyError as error:
        raise InputError(f"the trace has no {error.args[0]}", file) from None
    return values


def _columns_agree(x, trace, value):
    """Columns that state the same quantity, such as Ld and L a step before, have the same values."""
    known = {"C": linear(x.C), "R_m": linear(1), "D": linear(x.D)} | ({"beta": x.beta} if x.beta is not None else {})
    for name, term in known.items():
        if trace.constants.get(name) is None or not value(equal(term, trace.constants[name])):
            yield f"trace.{name}_as_in_query"
    for name, unknowns in x.columns().items():
        for t, stated in enumerate(trace.columns.get(name, ())):
            if not value(equal(unknowns[t], stated)):
                yield f"trace.{name}_agrees at t={t}"


def _rates_differ(query, trace):
    """The steps at which the controller would not have chosen the trace's rate."""
    if trace.controller is None:
        return
    controller = _controller(query, trace)
    rows = list(trace.rows())
    for before, row in zip(rows, rows[1:]):
        chosen = controller.rate({**trace.constants, **before})
        if row["r"] != max(chosen, trace.constants["MSS"] / trace.constants["R_m"]):
            yield f"sender.rate_is_the_controllers at t={row['t']}"
