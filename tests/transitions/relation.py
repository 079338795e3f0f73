"""A transition system as Python functions: whether numbers of an execution obey its conditions."""

from dataclasses import dataclass
from fractions import Fraction

from pysmt.walkers import DagWalker

from ccmatic.logic import Environment, formula
from ccmatic.proving.invariants.lasting import Place, Window
from ccmatic.proving.invariants.transition import derive


class _Python(DagWalker):
    """Writes a condition as a Python expression of `at(column, step)` and `waits(step, least)`."""

    def __init__(self, constants, end):
        super().__init__()
        self._constants, self._end = constants, end

    def walk_symbol(self, formula, args, **_):
        place = Place.of(formula, self._constants)
        if place.t is None:
            return f"constants[{place.column!r}]"
        if place.number:
            return f"waits(t - {self._end - place.t}, {place.number})"
        return f"{place.column}[t - {self._end - place.t}]"

    def walk_real_constant(self, formula, args, **_):
        value = Fraction(formula.constant_value())
        return str(value) if value.denominator == 1 else f"Fraction({value.numerator}, {value.denominator})"

    def walk_bool_constant(self, formula, args, **_):
        return str(bool(formula.constant_value()))

    def _joined(sign):
        def walk(self, formula, args, **_):
            return f"({f' {sign} '.join(args)})"

        return walk

    walk_plus, walk_minus, walk_times = _joined("+"), _joined("-"), _joined("*")
    walk_le, walk_lt, walk_equals, walk_iff = _joined("<="), _joined("<"), _joined("=="), _joined("==")
    walk_and, walk_or = _joined("and"), _joined("or")

    def walk_not(self, formula, args, **_):
        return f"(not {args[0]})"

    def walk_implies(self, formula, args, **_):
        return f"(not {args[0]} or {args[1]})"

    def walk_ite(self, formula, args, **_):
        return f"({args[1]} if {args[0]} else {args[2]})"


@dataclass(frozen=True)
class Relation:
    """The conditions of a step.

    Attributes:
        texts: The conditions as Python expressions.
        back: The number of steps before the step that the conditions read.
        columns: The names of the columns that they read.
    """

    texts: tuple[str, ...]
    back: int
    columns: tuple[str, ...]

    def broken(self, execution):
        """Return (step, condition) of each condition that a step of an execution does not obey."""
        columns = {name: execution.columns[name] for name in self.columns if name != "older"}
        if "older" in self.columns:  # the bytes that are older than the execution
            columns["older"] = [columns["A"][0] - columns["L"][0]] * execution.steps
        names = {"Fraction": Fraction, "waits": lambda t, least: _waits(execution.columns["Q"], t, least), **columns}
        known = {"alpha": execution.packet, "beta": execution.buffer}
        steps = range(self.back, execution.steps)
        found = []
        for t in steps:
            # Tokens are counted since the begin of the part of the execution that the conditions read.
            constants = {**known, "tokens_at_first": Fraction(t - self.back)}
            values = {**names, "constants": constants, "t": t}
            found += [(t, text) for text, code in self._codes if not eval(code, values)]
        return found

    @property
    def _codes(self):
        return [(text, _code(text)) for text in self.texts]


_CODES = {}


def _code(text):
    if text not in _CODES:
        _CODES[text] = compile(text, "<condition>", "eval")
    return _CODES[text]


def _waits(delays, t, least):
    """Return whether the delay of the last served byte is at least so many steps."""
    return delays[t] is not None and delays[t] >= least


def relation_of(row):
    """Return the Relation of a row's transition system."""
    with Environment():
        query = row.query()
        controller = query.controller(row.controller)
        system = derive(query, controller)
        end = system.x.horizon - 1
        constants = Window(query, controller, system.x.horizon, end).constants
        writer = _Python(constants, end)
        texts = tuple(writer.walk(formula(each)) for each in system.lasting)
        places = {Place.of(each, constants) for each in _symbols(system.lasting)}
        columns = {place.column for place in places if place.t is not None and not place.number}
        return Relation(texts, end, tuple(sorted(columns)))


def _symbols(conditions):
    return set().union(*(formula(each).get_free_variables() for each in conditions))
