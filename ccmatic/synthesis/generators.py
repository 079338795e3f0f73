"""Generators of candidates. A generator holds the candidates that traces and solutions have not struck out.

A trace that breaks one candidate breaks every candidate that would have chosen the same rates on this trace. The
generator strikes out exactly these candidates at once (docs/reference/encoding.md, section 8, point 4). A candidate is
a tuple of forms with one form per hole.
"""

from itertools import pairwise

import numpy as np
from pysat.solvers import Solver

from ccmatic.contracts import Sketch
from ccmatic.synthesis.replays import ReplayGenerator
from ccmatic.synthesis.space import Space

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
