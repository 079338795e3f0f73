"""A controller's own Python, run on exact numbers to compute rates."""

import ast
from fractions import Fraction
from typing import NamedTuple

from ccmatic.base import InputError, syntax_tree
from ccmatic.language import Literals


class Rates(NamedTuple):
    """The smallest and the largest rate that a controller allows, as Fractions in the units of its arguments."""

    low: Fraction
    high: Fraction


class Row(list):
    """A list with Fractions as indices, because all numbers in executed code are Fractions."""

    def __getitem__(self, index):
        return super().__getitem__(int(index))


def affine(weights, vector, bias):
    return Row(
        sum((weight * x for weight, x in zip(row, vector, strict=True)), start)
        for row, start in zip(weights, bias, strict=True)
    )


def no_tanh(file):
    """Return a `tanh` that raises InputError, because tanh(x) is a fraction only for x = 0."""

    def tanh(x, scale):
        expected = "a network of ReLU, or `export` and `emulate`, which run it in floats"
        raise InputError(f"tanh has no exact value, which the check of executions requires; expected {expected}", file)

    return tanh


#: The only functions on lists that a controller's Python may call. All numbers in these lists are Fractions.
BUILT_IN = {
    "__builtins__": {},
    "affine": affine,
    "all": all,
    "any": any,
    "len": lambda several: Fraction(len(several)),
    "range": lambda *ends: Row(map(Fraction, range(*map(int, ends)))),
    "sum": lambda several: sum(several, Fraction(0)),
    "zip": lambda *several: Row(map(Row, zip(*several, strict=True))),
}

#: The name of Row in executed syntax. The name contains a space, so no source can use it.
_ROW = "a row"


def run_exactly(source, file, lines=None):
    """Return the controller's own `rate` as a Python function in which every number is an exact Fraction.

    The returned function takes Fractions by name, and returns a Fraction, or Rates for `between(low, high)`.
    """
    scope = {**BUILT_IN, "max": max, "min": min, "between": Rates, "tanh": no_tanh(file)}
    module = syntax_tree(source)
    for function in module.body if lines is not None else ():
        if isinstance(function, ast.FunctionDef):
            lines.mark(function, scope)
    exec(compile(with_fractions(module, source, scope), file, "exec"), scope)
    return scope["rate"]


def exactly(source, scope):
    """Return the syntax tree of a source in which names replace the numbers; `scope` gets their Fractions."""
    return with_fractions(syntax_tree(source), source, scope)


def with_fractions(module, source, scope):
    """Return the result of `exactly` for syntax that was derived from a source."""
    return ast.fix_missing_locations(_Exact(Literals(source), scope).visit(module))


class _Exact(ast.NodeTransformer):
    """Replaces each list by a Row, and each number by a name of its exact Fraction in `scope`.

    The names contain a space, so no source can use them.
    """

    def __init__(self, literals, scope):
        self.literals = literals
        self.scope = scope

    def visit_List(self, node):
        self.scope[_ROW] = Row
        made = ast.Call(ast.Name(_ROW, ast.Load()), [self.generic_visit(node)], [])
        return ast.copy_location(made, node)

    visit_ListComp = visit_List

    def visit_Constant(self, node):
        if not isinstance(node.value, int | float) or isinstance(node.value, bool):
            return node
        number = self.literals.value(node)
        name = f"number {number}"
        self.scope[name] = number
        return ast.copy_location(ast.Name(name, ast.Load()), node)
