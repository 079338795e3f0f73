"""A controller's Python, run on exact numbers."""

import ast
from fractions import Fraction
from typing import NamedTuple

from ccmatic.base import InputError
from ccmatic.language import Literals


class Rates(NamedTuple):
    """The least and the most rate that a controller allows, Fractions in the units of what it was given."""

    low: Fraction
    high: Fraction


class Row(list):
    """A list, whose indices are Fractions, as all numbers are."""

    def __getitem__(self, index):
        return super().__getitem__(int(index))


def affine(weights, vector, bias):
    """The layer weights·vector + bias of a network."""
    return Row(
        sum((weight * x for weight, x in zip(row, vector, strict=True)), start)
        for row, start in zip(weights, bias, strict=True)
    )


def no_tanh(file):
    """`tanh` as a controller's Python in a file may call it: it raises InputError, as no fraction but 0 is a tanh."""

    def tanh(x, scale):
        expected = "a network of ReLU, or `export` and `emulate`, which run it in floats"
        raise InputError(f"tanh has no exact value, by which executions are checked; expected {expected}", file)

    return tanh


#: The functions of lists that a controller's Python may call, and no others; all numbers are Fractions.
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

#: What a list is called in syntax that is run; no source can spell it.
_ROW = "a row"


def run_exactly(source, file):
    """The controller's own `rate`, a function as Python runs it, with every number in it an exact Fraction: it takes
    Fractions by name and returns one, or Rates where it says `between(low, high)`."""
    scope = {**BUILT_IN, "max": max, "min": min, "between": Rates, "tanh": no_tanh(file)}
    exec(compile(exactly(source, scope), file, "exec"), scope)
    return scope["rate"]


def exactly(source, scope):
    """The syntax of a source in which every number is an exact Fraction, by names that are put into the scope."""
    return with_fractions(ast.parse(source), source, scope)


def with_fractions(module, source, scope):
    """The same of syntax that was made of a source."""
    return ast.fix_missing_locations(_Exact(Literals(source), scope).visit(module))


class _Exact(ast.NodeTransformer):
    """Replaces every list by a Row, and every number by a name, in scope, of the exact Fraction that its digits say; no
    source can spell it."""

    def __init__(self, literals, scope):
        self.literals = literals
        self.scope = scope

    def visit_List(self, node):
        """A list is a Row of what is in it."""
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
