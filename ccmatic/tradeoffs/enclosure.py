"""Rigorous values of expressions in C: intervals that contain the true value. Their ends are rational, never floats.

Short rational ends stay exact. Ends with more bits than requested are rounded outward.
"""

from fractions import Fraction
from math import floor

import sympy
from mpmath import iv, libmp

C = sympy.Symbol("C", positive=True)

#: The largest number of bits of a power, and the largest number of halvings of an interval.
MOST_BITS, MOST_HALVES = 2**20, 4_000


class Undefined(Exception):
    """Raised if an expression may have no real value in an interval."""


def compiled(expression, bits):
    """Return a function from an interval of C to an interval that contains all values of an expression there.

    Interval ends have `bits` significant bits. The function may raise Undefined.
    """
    if expression == C:
        return lambda x: x
    if expression.is_Rational:
        number = Fraction(int(expression.p), int(expression.q))
        return lambda x: (number, number)
    if isinstance(expression, sympy.Pow) and expression.exp.is_Rational:
        base, p, q = compiled(expression.base, bits), int(expression.exp.p), int(expression.exp.q)
        return lambda x: _rounded(_power(base(x), p, q, bits), bits)
    if type(expression) not in JOINED:
        raise Undefined
    join, parts = JOINED[type(expression)], [compiled(part, bits) for part in expression.args]
    if len(parts) == 1:
        return lambda x: _rounded(join(parts[0](x), bits), bits)

    def value(x):
        first, *others = (part(x) for part in parts)
        for other in others:
            first = _rounded(join(first, other), bits)
        return first

    return value


def least_is(expression, least, low, high, bits=128):
    """Decide whether an expression is at least `least` for all C in [low, high].

    Return (True, None); or (False, C) with a value at which the expression is certainly smaller or undefined; or (None,
    None) if undecided.
    """
    value = compiled(expression, bits)
    cells = [(low, high)]
    for _ in range(MOST_HALVES):
        if not cells:
            return True, None
        low, high = cells.pop()
        if _at_least(value, (low, high), least):
            continue
        middle = (low + high) / 2
        for point in (low, middle, high):
            if _at_least(value, (point, point), least) is False:
                return False, point
        cells += [(middle, high), (low, middle)]
    return (None, None) if cells else (True, None)


def _at_least(value, cell, least):
    """Return whether all values in a cell are at least `least`; None if the cell is too coarse to decide.

    For a single point without a value, the function returns False.
    """
    try:
        low, high = value(cell)
    except Undefined:
        return False if cell[0] == cell[1] else None
    return True if low >= least else False if high < least else None


def rounded_down(value, bits):
    """Round a value down to `bits` significant bits, unless its numerator and denominator are already short enough."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) <= bits:
        return value
    shift = bits - value.numerator.bit_length() + value.denominator.bit_length()
    unit = Fraction(2) ** shift
    return floor(value * unit) / unit


def rounded_up(value, bits):
    return -rounded_down(-value, bits)


def _rounded(x, bits):
    return rounded_down(x[0], bits), rounded_up(x[1], bits)


def _sum(x, y):
    return x[0] + y[0], x[1] + y[1]


def _product(x, y):
    ends = [a * b for a in x for b in y]
    return min(ends), max(ends)


def _power(x, p, q, bits):
    """Return an interval that contains x^(p/q), for q ≥ 1."""
    if q > 1:
        if x[0] < 0:
            raise Undefined
        x = _root(x[0], q, bits)[0], _root(x[1], q, bits)[1]
    if p < 0:
        if x[0] <= 0 <= x[1]:
            raise Undefined
        x, p = (1 / x[1], 1 / x[0]), -p
    longest = max(part.bit_length() for end in x for part in (end.numerator, end.denominator))
    if longest * p > MOST_BITS:
        raise Undefined
    ends = x[0] ** p, x[1] ** p
    if p % 2 == 0 and x[0] < 0:
        return (Fraction(0) if x[1] > 0 else ends[1]), max(ends)
    return ends


def _root(value, q, bits):
    """Return bounds on the q-th root of a value ≥ 0. The bounds are equal if the root is rational."""
    (above, exact), (below, also) = (sympy.integer_nthroot(n, q) for n in (value.numerator, value.denominator))
    if exact and also:
        return Fraction(above, below), Fraction(above, below)
    scale = 2 ** max(0, bits - (value.numerator.bit_length() - value.denominator.bit_length()) // q)
    low = sympy.integer_nthroot(value.numerator * scale**q // value.denominator, q)[0]
    return Fraction(low, scale), Fraction(low + 1, scale)


def _log(x, bits):
    if x[0] <= 0:
        raise Undefined
    return _log_of(x[0], bits)[0], _log_of(x[1], bits)[1]


def _log_of(value, bits):
    """Return bounds on the natural logarithm of a value > 0, by mpmath's interval arithmetic."""
    if value == 1:
        return Fraction(0), Fraction(0)
    iv.prec = bits + 16
    interval = iv.log(iv.mpf(value.numerator) / iv.mpf(value.denominator))
    return tuple(Fraction(*map(int, libmp.to_rational(end))) for end in interval._mpi_)


#: The operations that combine the intervals of operands. The operation of a logarithm has one operand, and the
#: precision as a further argument.
JOINED = {
    sympy.Add: _sum,
    sympy.Mul: _product,
    sympy.Min: lambda x, y: (min(x[0], y[0]), min(x[1], y[1])),
    sympy.Max: lambda x, y: (max(x[0], y[0]), max(x[1], y[1])),
    sympy.log: _log,
}
