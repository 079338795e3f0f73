"""The check of a trace that trusts no solver: every law by exact arithmetic, every rate by the controller's own
Python, and whether the property is broken."""

from dataclasses import dataclass, replace

from ccmatic import cca
from ccmatic import query as queries
from ccmatic.errors import InputError, located
from ccmatic.formula import equal, evaluator, linear


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


def replay(trace, file=None):
    """Check a trace. Raises InputError, naming `file`, if it lacks what its query needs."""
    with located(file):
        return Replay(queries.from_record(trace.query)).check(trace)


class Replay:
    """Checks traces of one query, whose laws are built once."""

    def __init__(self, query):
        self.query = query
        self._x = query.execution()
        self._laws = list(query.laws(self._x))
        self._belief_laws = {}
        self._objectives = query.property.objectives(query.model, self._x)

    def check(self, trace):
        """The report on a trace. Raises InputError if it lacks what the query needs."""
        query, x = self.query, self._x
        if query.horizon != trace.horizon:
            raise InputError(f"the query's horizon is {query.horizon}, the trace has {trace.horizon} steps")
        beliefs = reads(query, trace)
        value = evaluator(_assignment(query, x, trace, beliefs))
        laws = [*self._laws, *self._laws_of(frozenset(beliefs))]
        faults = ["trace.unaltered_since_saved"] if trace.altered else []
        faults += [*_columns_agree(x, trace, value), *_delays_are_whole(query, trace)]
        faults += [str(law) for law in laws if not value(law.formula)]
        faults += _rates_differ(query, trace)
        if not _needed(query) <= beliefs:
            return Report(len(laws), tuple(faults), {}, False)
        objectives = {name: value(formula) for name, formula in self._objectives.items()}
        return Report(len(laws), tuple(faults), objectives, query.property.holds(objectives))

    def _laws_of(self, beliefs):
        if beliefs not in self._belief_laws:
            self._belief_laws[beliefs] = list(self.query.model.belief_laws(self._x, beliefs))
        return self._belief_laws[beliefs]


def explained(trace, report):
    """The trace with the objectives that it breaks."""
    return replace(trace, broken=tuple(name for name, truth in report.objectives.items() if not truth))


def complete(query, trace):
    """The trace with the bounds that it leaves out, each from a start that is true."""
    x = query.execution()
    missing = [bound for bound in query.model.bounds() if bound.name not in trace.columns]
    value = evaluator(_assignment(query, x, trace, trace.columns))
    return trace.with_columns(**{bound.name: bound.follow(x, value) for bound in missing})


def reads(query, trace):
    """The beliefs that are checked: those that the trace states, and those that it must state, which are what can
    be false and what its controller reads."""
    known = query.units().keys()
    stated = known & trace.columns.keys()
    if trace.controller is None:
        return stated
    return stated | _needed(query) | (known & set(_controller(query, trace).parameters))


def _needed(query):
    return {belief.name for belief in (*query.model.bounds(), *query.model.true_states())}


def _controller(query, trace):
    return cca.parse(trace.controller, beliefs=query.units())


def _assignment(query, x, trace, beliefs):
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
        raise InputError(f"the trace has no {error.args[0]}") from None
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


def _delays_are_whole(query, trace):
    for name in query.model.measures:
        for t, delay in enumerate(trace.columns[name]):
            if delay.denominator != 1 or not 0 <= delay <= trace.horizon:
                yield f"trace.{name}_is_whole at t={t}"


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
