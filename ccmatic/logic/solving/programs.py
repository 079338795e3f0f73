"""Exact linear programming."""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

import z3

from ccmatic.base import smtlib_name
from ccmatic.logic import Linear
from ccmatic.logic.solving.solver import context

#: The reserved name of the unknown that scales the other unknowns and the constants.
SCALE = "scale!"


def greatest(
    numerator: Linear, denominator: Linear, below: Sequence[Linear], zero: Sequence[Linear]
) -> Fraction | None:
    """Return the supremum of numerator/denominator over a polyhedron that is not empty; None if it is unbounded.

    Each term of `below` is at most 0, and each term of `zero` is 0, at each point of the polyhedron. The denominator
    must be above 0 there. A point (x, 1) and its multiples (x·s, s) have the same quotient. The function therefore also
    scales the constant of each term by s, and chooses s so that the denominator is 1. If the scaled numerator is
    bounded, some point attains the bound. Otherwise, the numerator grows without bound in some direction. Exact
    arithmetic checks either outcome, and raises ArithmeticError if it does not fit.
    """
    lines = [f"(assert (>= {smtlib_name(SCALE)} 0.0))"]
    lines += [f"(assert (<= {_scaled(term)} 0.0))" for term in below]
    lines += [f"(assert (= {_scaled(term)} 0.0))" for term in zero]
    over, under = _scaled(numerator), _scaled(denominator)
    terms = (numerator, denominator, *below, *zero)
    names = {SCALE, *(symbol.symbol_name() for term in terms for symbol in term.coefficients)}
    bound, point = _solve(names, [*lines, f"(assert (= {under} 1.0))", f"(maximize {over})"])
    if bound is None:
        _, point = _solve(names, [*lines, f"(assert (= {under} 0.0))", f"(assert (= {over} 1.0))"])
    expected = (Fraction(1), Fraction(0)) if bound is None else (bound, Fraction(1))
    fits = (_at(numerator, point), _at(denominator, point)) == expected and point[SCALE] >= 0
    if not (fits and all(_at(t, point) <= 0 for t in below) and all(_at(t, point) == 0 for t in zero)):
        raise ArithmeticError("the solver's answer to a linear program fails the exact check")
    return bound


def _solve(names: Collection[str], lines: Sequence[str]) -> tuple[Fraction | None, dict[str, Fraction]]:
    """Return the largest value of the objective (None if unbounded or without objective), and the point by name."""
    program = z3.Optimize(ctx=context())
    program.from_string("\n".join([*(f"(declare-fun {smtlib_name(name)} () Real)" for name in sorted(names)), *lines]))
    program.check()
    values = program.model()
    point = dict.fromkeys(names, Fraction(0)) | {each.name(): Fraction(str(values[each])) for each in values}
    if not program.objectives():
        return None, point
    infinite, value, _ = program.upper_values(z3.OptimizeObjective(program, 0, is_max=True))
    return (None if infinite.as_long() else Fraction(str(value))), point


def _scaled(term: Linear) -> str:
    """Return a term whose constant is scaled, in SMT-LIB 2."""
    parts = {symbol.symbol_name(): c for symbol, c in term.coefficients.items()} | {SCALE: term.constant}
    products = [f"(* (/ {c.numerator}.0 {c.denominator}.0) {smtlib_name(name)})" for name, c in parts.items()]
    return f"(+ {' '.join(products)} 0.0)"


def _at(term: Linear, point: Mapping[str, Fraction]) -> Fraction:
    return sum(
        (c * point[symbol.symbol_name()] for symbol, c in term.coefficients.items()), term.constant * point[SCALE]
    )
