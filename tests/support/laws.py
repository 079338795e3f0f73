"""Laws that are not linear, worked out exactly, but for cube roots, which have 200 bits."""

import ast
from fractions import Fraction

from ccmatic.language import Bounded, NextState, parts


def cbrt(number):
    """The cube root of a Fraction; exact where it is a Fraction."""
    scale = 0 if _root(abs(number.numerator)) and _root(number.denominator) else 600
    size = abs(number) * 2**scale
    root = Fraction(_floor_root(size.numerator * size.denominator**2), size.denominator) / 2 ** (scale // 3)
    return -root if number < 0 else root


def _root(number):
    return _floor_root(number) ** 3 == number


def _floor_root(number):
    low, high = 0, 1 << number.bit_length() // 3 + 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**3 <= number else (low, middle - 1)
    return low


def laws_in(tree):
    """The names of the state that follows a law somewhere in an update."""
    if isinstance(tree, NextState):
        return {name for name, value in tree.values.items() if isinstance(value, Bounded)}
    return {name for part in parts(tree) for name in laws_in(part)}


def that_follows_laws(source):
    """The source of a controller that follows its laws, and assumes nothing."""
    return ast.unparse(_Followed().visit(ast.parse(source)))


class _Followed(ast.NodeTransformer):
    def visit_Expr(self, node):
        return ast.Pass() if isinstance(node.value, ast.Call) and node.value.func.id == "assume" else node

    def visit_Call(self, node):
        return node.args[0] if isinstance(node.func, ast.Name) and node.func.id == "bounded" else node
