"""Invariants as clauses: from Z3's formulas, and as data."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import z3
from pysmt.typing import BOOL

from ccmatic.logic import Truth, linear, no, some
from ccmatic.proving.invariants.lasting import as_value


def clauses_of(text: str, state: Sequence[Any]) -> Iterator[Truth]:
    """Yield the clauses of a formula of Z3 about the unknowns `v0`, `v1`, … of a state.

    Raises:
        ValueError: If the formula has quantifiers.
    """
    own = z3.Context()
    names = {f"v{k}": as_value(symbol) for k, symbol in enumerate(state)}
    declared = "".join(
        f"(declare-const v{k} {'Bool' if symbol.symbol_type() is BOOL else 'Real'})" for k, symbol in enumerate(state)
    )
    formulas = z3.parse_smt2_string(f"{declared}(assert {text})", ctx=own)
    for clause in dict.fromkeys(each for formula in formulas for each in _clauses(formula, True, names)):
        yield some([literal if holds else no(literal) for literal, holds in _conditions(clause, names)])


def _clauses(node: Any, holds: bool, names: Any) -> list[tuple[tuple[Any, bool], ...]]:
    """Return clauses of (atom, whether it holds) for a formula or its negation."""
    if z3.is_not(node):
        return _clauses(node.arg(0), not holds, names)
    if z3.is_true(node) or z3.is_false(node):
        return [] if z3.is_true(node) == holds else [()]
    if z3.is_implies(node):
        node = z3.Or(z3.Not(node.arg(0)), node.arg(1))
    if z3.is_and(node) or z3.is_or(node):
        parts = [_clauses(part, holds, names) for part in node.children()]
        if z3.is_and(node) == holds:
            return [clause for part in parts for clause in part]
        product: list[tuple[tuple[Any, bool], ...]] = [()]
        for part in parts:
            product = [(*left, *right) for left in product for right in part]
        return product
    if z3.is_eq(node) and not z3.is_bool(node.arg(0)):
        low, high = node.arg(0) <= node.arg(1), node.arg(0) >= node.arg(1)
        return [((low, True),), ((high, True),)] if holds else [((low, False), (high, False))]
    if z3.is_eq(node):
        left, right = node.children()
        pairs = z3.And(z3.Or(left, z3.Not(right)), z3.Or(z3.Not(left), right))
        return _clauses(pairs, holds, names)
    return [((node, holds),)]


def _conditions(clause: Any, names: Any) -> Iterator[tuple[Truth, bool]]:
    for node, holds in clause:
        yield _atom(node, names), holds


def _atom(node: Any, names: Any) -> Any:
    if z3.is_quantifier(node):
        raise ValueError(f"the formula has quantifiers: {node}")
    if z3.is_const(node):
        return names[node.decl().name()]
    left, right = (_term(part, names) for part in node.children())
    if z3.is_le(node):
        return left <= right
    if z3.is_lt(node):
        return left < right
    if z3.is_ge(node):
        return left >= right
    if z3.is_gt(node):
        return left > right
    raise ValueError(f"no atom of linear arithmetic: {node}")


def _term(node: Any, names: Any) -> Any:
    if z3.is_rational_value(node) or z3.is_int_value(node):
        return linear(Fraction(node.as_fraction()))
    if z3.is_add(node):
        return sum((_term(part, names) for part in node.children()), linear(0))
    if z3.is_sub(node):
        first, *others = (_term(part, names) for part in node.children())
        return sum((-other for other in others), first)
    if z3.is_mul(node):
        product = linear(1)
        for part in node.children():
            product = product * _term(part, names)
        return product
    if z3.is_div(node):
        return _term(node.arg(0), names) / _term(node.arg(1), names)
    if node.decl().kind() == z3.Z3_OP_UMINUS:
        return -_term(node.arg(0), names)
    return names[node.decl().name()]
