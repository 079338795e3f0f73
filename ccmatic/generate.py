"""The enumerating generator: the whole search space as one array, of which each trace strikes out a part.

A trace that breaks one candidate breaks every candidate that would have chosen the same rates on it; those
are struck out exactly and all at once (ENCODING section 8, point 4).
"""

from fractions import Fraction
from math import lcm

import numpy as np

from ccmatic.errors import InputError

#: The largest space that is kept as an array, in candidates, a byte each.
LARGEST = 4 * 10**9


class ArrayGenerator:
    """The candidates of a template, as an array with an axis for each hole; `alive` says which remain."""

    def __init__(self, template):
        self.template = template
        self.holes = template.holes()
        if template.size > LARGEST:
            raise InputError(f"the template has {template.size:.3g} candidates; at most {LARGEST:.3g} fit the array")
        self.alive = np.ones([len(hole) for hole in self.holes], dtype=bool)
        self._classes = [_class_ids(hole) for hole in self.holes]
        self._cursor = 0

    @property
    def left(self):
        """How many candidates remain."""
        return int(np.count_nonzero(self.alive))

    def propose(self):
        """The next candidate that remains, a form for each hole, or None."""
        flat = self.alive.reshape(-1)
        self._cursor += int(np.argmax(flat[self._cursor :]))
        if not flat[self._cursor]:
            return None
        indices = np.unravel_index(self._cursor, self.alive.shape)
        return tuple(hole[index] for hole, index in zip(self.holes, indices))

    def strike_like(self, trace):
        """Strike out every candidate that would have chosen the trace's rates."""
        conditions = {hole for path, _ in self.template.leaves() for hole, _ in path}
        basis = _Basis(trace, self.holes)
        bits = [
            basis.positive(hole) if index in conditions else basis.rate_chosen(hole)
            for index, hole in enumerate(self.holes)
        ]
        same = np.ones([1] * self.alive.ndim, dtype=bool)
        for path, leaf in self.template.leaves():
            differs = self._along(~bits[leaf], leaf)
            for hole, holds in path:
                differs = differs & self._along(bits[hole] if holds else ~bits[hole], hole)
            same = same & (differs & basis.every_step == 0)
        np.logical_and(self.alive, ~same, out=self.alive)

    def strike(self, candidate):
        """Strike out this candidate alone."""
        self.alive[tuple(hole.index(form) for hole, form in zip(self.holes, candidate))] = False

    def strike_class(self, candidate):
        """Strike out the candidates that differ from this one in the coefficients of constants only."""
        same = np.ones([1] * self.alive.ndim, dtype=bool)
        for axis, (hole, form) in enumerate(zip(self.holes, candidate)):
            ids = self._classes[axis]
            same = same & self._along(ids == ids[hole.index(form)], axis)
        np.logical_and(self.alive, ~same, out=self.alive)

    def _along(self, values, axis):
        shape = [1] * self.alive.ndim
        shape[axis] = len(values)
        return values.reshape(shape)


def _class_ids(hole):
    ids = {}
    return np.array([ids.setdefault(form.beliefs, len(ids)) for form in hole])


class _Basis:
    """The exact values that forms take on a trace; a truth value a step is a bit of a 64-bit word."""

    def __init__(self, trace, holes):
        self.steps = trace.horizon - 1
        self.every_step = np.uint64(2**self.steps - 1)
        terms = {term for hole in holes for form in hole for term, _ in form.coefficients}
        values = [{**trace.constants, **row} for row in trace.rows()][:-1]
        chosen = list(trace.columns["r"][1:])
        floor = trace.constants["MSS"] / trace.constants["R_m"]
        columns = {term: [eval(term, {}, row) for row in values] for term in terms}
        denominators = {v.denominator for column in (*columns.values(), chosen, [floor]) for v in column}
        self.scale = lcm(*denominators)
        self.columns = {term: self._integers(column) for term, column in columns.items()}
        self.chosen = self._integers(chosen)
        self.floor = self._integers([floor])[0]

    def positive(self, hole):
        """For each form, the steps at which it is positive."""
        return self._bits(self._value(form) > 0 for form in hole)

    def rate_chosen(self, hole):
        """For each form, the steps at which it would have chosen the trace's rate."""
        return self._bits(
            np.maximum(self._value(form), self.floor * _denominator(form)) == self.chosen * _denominator(form)
            for form in hole
        )

    def _value(self, form):
        """The form's value at each step, times the scale and its denominator: integers of any size."""
        total = np.zeros(self.steps, dtype=object)
        for term, coefficient in form.coefficients:
            total = total + self.columns[term] * int(coefficient * _denominator(form))
        return total

    def _integers(self, column):
        return np.array([int(Fraction(v) * self.scale) for v in column], dtype=object)

    def _bits(self, truths):
        weights = np.array([1 << t for t in range(self.steps)], dtype=object)
        return np.array([int((np.asarray(truth, dtype=bool) * weights).sum()) for truth in truths], dtype=np.uint64)


def _denominator(form):
    return lcm(*(c.denominator for _, c in form.coefficients))
