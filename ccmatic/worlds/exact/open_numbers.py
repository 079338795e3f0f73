"""Uncertain numbers, such as an unknown delay, of which only bounds are known.

A controller's own Python can compute with them.
"""

import operator
from fractions import Fraction


class UncertainNumber:
    """An observation, or a value computed from one, that may be any number between two ends.

    Args:
        number: The value that comparisons use. If it is None, no comparison holds.
        low: The lower end; None for no lower end.
        high: The upper end; None for no upper end.
        before: For an observation, a function that returns the observation of the same name at an earlier step.
    """

    __hash__ = None

    def __init__(self, number, low, high, before=None):
        self.number, self.low, self.high, self.before = number, low, high, before

    def __getitem__(self, back):
        return self.before(back)

    def __neg__(self):
        return UncertainNumber(_negated(self.number), _negated(self.high), _negated(self.low))

    def __add__(self, other):
        return UncertainNumber(*map(_sum, ends(self), ends(other)))

    __radd__ = __add__

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, factor):
        """The product of two UncertainNumbers gets no ends, because only comparisons use such a product."""
        if isinstance(factor, UncertainNumber):
            return UncertainNumber(_product(self.number, factor.number), None, None)
        number, low, high = (_product(each, factor) for each in ends(self))
        return UncertainNumber(number, low, high) if factor >= 0 else UncertainNumber(number, high, low)

    __rmul__ = __mul__

    def __truediv__(self, divisor):
        return self * (1 / Fraction(divisor))

    def _compared(compare):
        def holds(self, other):
            number, _, _ = ends(other)
            return self.number is not None and number is not None and compare(self.number, number)

        return holds

    __lt__, __le__ = _compared(operator.lt), _compared(operator.le)
    __gt__, __ge__ = _compared(operator.gt), _compared(operator.ge)
    __eq__, __ne__ = _compared(operator.eq), _compared(operator.ne)


class UnknownNumber(UncertainNumber):
    """An unknown delay, or an observation that the sender has not yet made. `before` is as in `UncertainNumber`."""

    def __init__(self, before):
        super().__init__(None, Fraction(0), None, before)


def ends(number):
    """Return the value that comparisons use, the lower end and the upper end of a number."""
    return (number.number, number.low, number.high) if isinstance(number, UncertainNumber) else (number,) * 3


def extreme(pick, values):
    """Return the largest or smallest number.

    If all numbers are observations and one of them is unknown, the result is also unknown. The formulas for solvers
    treat unknown observations in the same way.
    """
    if not any(isinstance(value, UncertainNumber) for value in values):
        return pick(values)
    numbers, lows, highs = zip(*map(ends, values), strict=True)
    number = None if None in numbers else pick(numbers)
    observed = all(getattr(value, "before", None) for value in values)
    if observed and number is None:
        return UnknownNumber(values[0].before)
    near, far = (lows, highs) if pick is max else (highs, lows)
    near = pick((end for end in near if end is not None), default=None)
    far = None if None in far else pick(far)
    return UncertainNumber(
        number, *((near, far) if pick is max else (far, near)), values[0].before if observed else None
    )


class Options:
    """The allowed values of a state variable: one or several ranges, each a pair of ends, or of truth values."""

    def __init__(self, ranges):
        self.ranges = ranges

    def __contains__(self, number):
        return any((low is None or low <= number) and (high is None or number <= high) for low, high in self.ranges)

    def __iter__(self):
        """Yield one end of each range; 0 for a range without ends."""
        return (next((end for end in ends if end is not None), Fraction(0)) for ends in self.ranges)


def _if_known(operation):
    return lambda *numbers: None if None in numbers else operation(*numbers)


_negated, _sum, _product = map(_if_known, (operator.neg, operator.add, operator.mul))
