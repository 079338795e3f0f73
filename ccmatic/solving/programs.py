"""Linear programs, exact."""

from fractions import Fraction

import z3

from ccmatic.base import smtlib_name
from ccmatic.solving.contexts import context

#: The unknown by which all others, and constants, are scaled; no other is called so.
SCALE = "scale!"


def greatest(numerator, denominator, below, zero):
    """The least upper bound of numerator/denominator over the points at which the terms of `below` are at most 0 and
    those of `zero` are 0, a Fraction, or None if there is none. All are linear terms of symbols; there is such a point,
    and the denominator is above 0 at each.

    A point (x, 1) and its multiples (x·s, s) have one quotient: so the constant of each term is scaled, too, until the
    denominator is 1. Where the numerator is then bounded, the bound is one that is had at a point; else there is a
    direction in which it alone grows. Either is checked by exact arithmetic."""
    lines = [f"(assert (>= {smtlib_name(SCALE)} 0.0))"]
    lines += [f"(assert (<= {_scaled(term)} 0.0))" for term in below]
    lines += [f"(assert (= {_scaled(term)} 0.0))" for term in zero]
    over, under = _scaled(numerator), _scaled(denominator)
    terms = (numerator, denominator, *below, *zero)
    names = {SCALE, *(symbol.symbol_name() for term in terms for symbol in term.coefficients)}
    bound, point = _solved(names, [*lines, f"(assert (= {under} 1.0))", f"(maximize {over})"])
    if bound is None:
        _, point = _solved(names, [*lines, f"(assert (= {under} 0.0))", f"(assert (= {over} 1.0))"])
    expected = (1, 0) if bound is None else (bound, 1)
    fits = (_at(numerator, point), _at(denominator, point)) == expected and point[SCALE] >= 0
    if not (fits and all(_at(t, point) <= 0 for t in below) and all(_at(t, point) == 0 for t in zero)):
        raise ArithmeticError("the solver's answer to a linear program is none")
    return bound


def _solved(names, lines):
    """The greatest value of what is maximised, None if it has no bound or nothing is; and the point, by name."""
    program = z3.Optimize(ctx=context())
    program.from_string("\n".join([*(f"(declare-fun {smtlib_name(name)} () Real)" for name in sorted(names)), *lines]))
    program.check()
    values = program.model()
    point = dict.fromkeys(names, Fraction(0)) | {each.name(): Fraction(str(values[each])) for each in values}
    if not program.objectives():
        return None, point
    infinite, value, _ = program.upper_values(z3.OptimizeObjective(program, 0, is_max=True))
    return (None if infinite.as_long() else Fraction(str(value))), point


def _scaled(term):
    """A term whose constant is scaled, as SMT-LIB 2."""
    parts = {symbol.symbol_name(): c for symbol, c in term.coefficients.items()} | {SCALE: term.constant}
    products = [f"(* (/ {c.numerator}.0 {c.denominator}.0) {smtlib_name(name)})" for name, c in parts.items()]
    return f"(+ {' '.join(products)} 0.0)"


def _at(term, point):
    """Its value at a point."""
    return sum(
        (c * point[symbol.symbol_name()] for symbol, c in term.coefficients.items()), term.constant * point[SCALE]
    )
