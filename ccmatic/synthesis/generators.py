"""Generators of candidates. A generator holds the candidates that traces and solutions have not struck out.

A trace that breaks one candidate breaks every candidate that would have chosen the same rates on this trace. The
generator strikes out exactly these candidates at once (docs/reference/encoding.md, section 8, point 4). A candidate is
a tuple of forms with one form per hole.
"""

from functools import cached_property
from itertools import pairwise
from math import lcm

import numpy as np
from pysat.solvers import Solver

from ccmatic.contracts import Sketch, value_of
from ccmatic.synthesis.replays import ReplayGenerator

#: The number of steps per machine word in the strikes of an array.
WORD = 64

#: The largest search space that a generator keeps as an array, with one byte per candidate. Larger spaces use a SAT
#: solver.
LARGEST_ARRAY = 10**7


def generator(query):
    template = query.template
    if isinstance(template, Sketch):
        return ReplayGenerator(query)
    return ArrayGenerator(template) if template.size <= LARGEST_ARRAY else SatGenerator(template)


class ArrayGenerator:
    """A generator whose candidates are an array with one axis per hole. `alive` marks the remaining candidates."""

    def __init__(self, template):
        self.space = Space(template)
        self.alive = np.ones([len(hole) for hole in self.space.holes], dtype=bool)
        self._cursor = 0

    @property
    def left(self):
        return int(np.count_nonzero(self.alive))

    def propose(self):
        flat = self.alive.reshape(-1)
        self._cursor += int(np.argmax(flat[self._cursor :]))
        if not flat[self._cursor]:
            return None
        indices = np.unravel_index(self._cursor, self.alive.shape)
        return tuple(hole[index] for hole, index in zip(self.space.holes, indices, strict=True))

    def strike_like(self, trace):
        """Strike out every candidate that would have chosen the trace's rates."""
        truths = self.space.choices(trace)
        same = np.ones([1] * self.alive.ndim, dtype=bool)
        for first in range(0, trace.horizon - 1, WORD):
            words = [_words(truth[:, first : first + WORD]) for truth in truths]
            unlike = [_words(~truth[:, first : first + WORD]) for truth in truths]
            for path, leaf in self.space.leaves:
                differs = self._along(unlike[leaf], leaf)
                for hole, holds in path:
                    differs = differs & self._along(words[hole] if holds else unlike[hole], hole)
                same = same & (differs == 0)
        np.logical_and(self.alive, ~same, out=self.alive)

    def strike(self, candidate):
        self.alive[tuple(hole.index(form) for hole, form in zip(self.space.holes, candidate, strict=True))] = False

    def strike_class(self, candidate):
        """Strike out the candidates that differ from this one only in the coefficients of constants."""
        same = np.ones([1] * self.alive.ndim, dtype=bool)
        for axis, (hole, form, ids) in enumerate(zip(self.space.holes, candidate, self.space.classes, strict=True)):
            same = same & self._along(ids == ids[hole.index(form)], axis)
        np.logical_and(self.alive, ~same, out=self.alive)

    def strike_all(self):
        self.alive[:] = False

    def _along(self, values, axis):
        shape = [1] * self.alive.ndim
        shape[axis] = len(values)
        return values.reshape(shape)


class SatGenerator:
    """A generator whose candidates are the models of a formula. In a model, each hole has exactly one of its forms.

    A trace adds only two facts per step to the formula: whether each condition holds, and whether each leaf chooses the
    trace's rate. Steps at which all forms have the same behaviour share one variable.
    """

    left = None

    def __init__(self, template):
        self.space = Space(template)
        self._solver = Solver(name="cadical195")
        self._top = 0
        self._forms = [[self._new() for _ in hole] for hole in self.space.holes]
        self._patterns = {}
        for literals in self._forms:
            self._solver.add_clause(literals)
            self._at_most_one(literals)
        self._classes = {}

    def propose(self):
        if not self._solver.solve():
            return None
        model = self._solver.get_model()
        chosen = (next(i for i, literal in enumerate(row) if model[literal - 1] > 0) for row in self._forms)
        return tuple(hole[index] for hole, index in zip(self.space.holes, chosen, strict=True))

    def strike_like(self, trace):
        truths = self.space.choices(trace)
        kinds = {tuple(truth[:, step].tobytes() for truth in truths): step for step in range(trace.horizon - 1)}
        self._solver.add_clause([self._differs(truths, step) for step in kinds.values()])

    def strike(self, candidate):
        self._solver.add_clause([-literal for literal in self._literals(candidate)])

    def strike_class(self, candidate):
        clause = []
        for hole, literal in enumerate(self._literals(candidate)):
            ids = self.space.classes[hole]
            members = ids == ids[self._forms[hole].index(literal)]
            clause.append(-self._among(hole, members))
        self._solver.add_clause(clause)

    def strike_all(self):
        self._solver.add_clause([])

    def _literals(self, candidate):
        return [row[hole.index(form)] for row, hole, form in zip(self._forms, self.space.holes, candidate, strict=True)]

    def _differs(self, truths, step):
        """Return a literal which implies that the candidate would not have chosen the trace's rate at this step."""
        differs = self._new()
        for path, leaf in self.space.leaves:
            elsewhere = [self._among(hole, truths[hole][:, step]) * (-1 if holds else 1) for hole, holds in path]
            self._solver.add_clause([-differs, *elsewhere, -self._among(leaf, truths[leaf][:, step])])
        return differs

    def _among(self, hole, members):
        """Return a literal that is true if the hole's form is a member. `members` has a truth value for each form."""
        key = hole, members.tobytes()
        if key not in self._patterns:
            literal = self._patterns[key] = self._new()
            for form, member in zip(self._forms[hole], members.tolist(), strict=True):
                self._solver.add_clause([-form, literal if member else -literal])
        return self._patterns[key]

    def _at_most_one(self, literals):
        """Add the clauses of a sequential counter, which allow at most one of the literals to be true.

        The variable `before` states whether an earlier literal is true.
        """
        before = [self._new() for _ in literals]
        for literal, reached in zip(literals, before, strict=True):
            self._solver.add_clause([-literal, reached])
        for (reached, later), literal in zip(pairwise(before), literals[1:], strict=True):
            self._solver.add_clause([-reached, later])
            self._solver.add_clause([-reached, -literal])

    def _new(self):
        self._top += 1
        return self._top


def _words(truths):
    """Pack each row of at most WORD truth values into a machine word. The first value is the lowest bit."""
    words = np.zeros((len(truths), WORD // 8), np.uint8)
    packed = np.packbits(truths, axis=1, bitorder="little")
    words[:, : packed.shape[1]] = packed
    return words.view("<u8")[:, 0]


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
