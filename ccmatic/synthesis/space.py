"""The search space of a template: the exact behaviour of each form on a trace, and the class of each form."""

from functools import cached_property
from math import lcm

import numpy as np

from ccmatic.contracts import value_of


class Space:
    """The holes of a template, in the order of the source, and the forms that may fill them."""

    def __init__(self, template):
        self.template = template
        self.holes = template.holes()
        self.leaves = template.leaves()
        self.conditions = template.condition_holes()

    @cached_property
    def classes(self):
        """The class of each form in each hole, as a number (docs/reference/encoding.md, section 9, "Counting")."""
        return [_class_ids(hole) for hole in self.holes]

    def choices(self, trace):
        """Return the behaviour of the forms on a trace.

        For each hole, the result is an array of truth values. Its axes are the forms, and the steps t = 1 … T-1 that
        the controller decides. For a condition, a value states whether the condition holds. For a leaf, a value states
        whether the leaf would choose the trace's rate.
        """
        values = _Values(trace, self.template.names)
        tables = {}
        for index, hole in enumerate(self.holes):
            key = id(hole), index in self.conditions
            if key not in tables:
                table = self._table(hole)
                tables[key] = (values.positive(table) if key[1] else values.chooses_rate(table)).astype(bool)
        return [tables[id(hole), index in self.conditions] for index, hole in enumerate(self.holes)]

    def _table(self, hole):
        tables = self.__dict__.setdefault("_tables", {})
        if id(hole) not in tables:
            tables[id(hole)] = _Table(hole)
        return tables[id(hole)]


class _Table:
    """The forms of a hole as an integer matrix (forms × terms). Row i is denominators[i] times form i."""

    def __init__(self, hole):
        self.terms = sorted({term for form in hole for term, _ in form.coefficients})
        self.denominators = np.array([lcm(*(c.denominator for _, c in form.coefficients)) for form in hole], object)
        self.matrix = np.zeros((len(hole), len(self.terms)), object)
        for row, form in enumerate(hole):
            for term, coefficient in form.coefficients:
                self.matrix[row, self.terms.index(term)] = int(coefficient * self.denominators[row])


class _Values:
    """A trace's values before each decision. The methods scale these values to integers of any size."""

    def __init__(self, trace, names):
        self.rows = list(trace.decisions(names))
        self.rates = trace.columns["r"][1:]
        self.floor = trace.constants["MSS"] / trace.constants["R_m"]

    def positive(self, table):
        scaled, _ = self._scaled(table, ())
        return scaled > 0

    def chooses_rate(self, table):
        scaled, rates = self._scaled(table, (*self.rates, self.floor))
        denominators = table.denominators[:, None]
        return np.maximum(scaled, rates[-1] * denominators) == rates[None, :-1] * denominators

    def _scaled(self, table, others):
        """Return the values of the forms (forms × steps), and `others`, scaled to integers by a common factor."""
        columns = [[value_of(term, row) for row in self.rows] for term in table.terms]
        scale = lcm(*(v.denominator for v in others), *(v.denominator for column in columns for v in column))
        integers = np.array([[int(v * scale) for v in column] for column in columns], object)
        values = table.matrix @ integers.reshape(len(table.terms), len(self.rows))
        return values, np.array([int(v * scale) for v in others], object)


def _class_ids(hole):
    ids = {}
    return np.array([ids.setdefault(form.beliefs, len(ids)) for form in hole])
