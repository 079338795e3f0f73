"""The reader of modules whose functions return a term, a condition or a list of terms.

Terms may contain products of unknowns, and nonlinear functions. Each back end decides which of these it supports. If a
parameter has the name of an earlier function, the parameter stands for the result of that function.
"""

import ast
import operator
from collections.abc import Mapping
from functools import partial, reduce
from typing import Any, TypeAlias

from ccmatic.base import NUMBER, InputError, Unit
from ccmatic.language.reader import Reader, parsed
from ccmatic.language.scope import Meaning, Row, Term
from ccmatic.language.source import first_line, is_constant
from ccmatic.language.tree import Binary, Function, If, Tree, Vector

#: The nonlinear functions of one number.
FUNCTIONS = ("cbrt", "exp", "log", "sqrt", "tanh")

#: The highest power that becomes a product. Higher powers become a Function.
_HIGHEST = 9

#: The unit of a function's result. For a list, the tuple of the units of its terms.
Returned: TypeAlias = Unit | str | tuple[Unit | None, ...] | None


class TermsReader(Reader):
    takes_tanh = False  # in these modules, `tanh(x)` is the plain function of a number

    def __init__(self, source: str, units: Mapping[str, Unit | str], file: str | None) -> None:
        super().__init__(source, units, FUNCTIONS, file)
        self.source = source
        self.results: dict[str, Meaning] = {}
        self.constants: dict[str, Meaning] = {}
        self.unit: Returned = None

    def read_functions(self) -> dict[str, tuple[Tree, Returned]]:
        return parsed(self.source, self.file, self.terms)

    def terms(self, module: ast.Module) -> dict[str, tuple[Tree, Returned]]:
        functions: dict[str, tuple[Tree, Returned]] = {}
        for statement in self.whole_module(module):
            if isinstance(statement, ast.FunctionDef):
                if statement.name in functions or statement.name in self.units:
                    self.fail(statement, f"found a second meaning of `{statement.name}`, expected another name")
                functions[statement.name] = self.result(statement)
            elif is_constant(statement):
                self.check_target(statement, self.constants)
                self.assign(statement)
                self.constants = dict(self.names)
            else:
                expected = "only a docstring, constants such as `GAIN = 5 / 4`, and functions"
                self.fail(statement, f"found `{first_line(statement)}`, expected {expected}")
            self.names, self.parameters, self.assigned = dict(self.constants), None, ()
        if not functions:
            raise InputError("found no function", self.file, 1)
        return functions

    def result(self, function: ast.FunctionDef) -> tuple[Tree, Returned]:
        self.unit = _UNKNOWN
        parameters, body = self.begin(function)
        self.names |= {name: self.results[name] for name in parameters if name in self.results}
        tree = self.block(body, function)
        if isinstance(self.unit, tuple):
            return self.whole(function, tree), self.unit
        result = self.local(function.name, function, tree), self.unit
        self.results[function.name], self.units[function.name] = result, self.unit
        return result

    def returned(self, statement: ast.Return) -> Tree:
        self.count(statement)
        if statement.value is None:
            self.fail(statement, "found `return` alone, expected a term after it")
        tree, unit = self.value(statement.value)
        if not isinstance(tree, Row):
            self.require_unit(statement, unit)
            return tree
        terms = self.terms_among(statement, [(statement.value, *each) for each in tree])
        self.require_unit(statement, tuple(unit for _, _, unit in terms))
        return Vector(tuple(term for _, term, _ in terms))

    def branches(self, statement: ast.If, rest: list[ast.stmt]) -> Tree:
        """In a list, each term has the `if`."""
        match super().branches(statement, rest):
            case If(test, Vector(then), Vector(other)):
                return Vector(tuple(If(test, *each) for each in zip(then, other, strict=True)))
            case tree:
                return tree

    def require_unit(self, statement: ast.Return, unit: Returned) -> None:
        common = unit if self.unit == _UNKNOWN else _common(self.unit, unit)
        if common == _UNKNOWN:
            units = f"returns {_said(unit)} here and {_said(self.unit)} before"
            self.fail(statement, f"{units}, expected the same unit on all paths")
        self.unit = common

    def expression(self, node: ast.expr) -> Term:
        match node:
            case ast.BinOp(op=ast.Pow()):
                return self.power(node)
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in FUNCTIONS:
                return Function(name, (self.plain(argument),), node.lineno), NUMBER
        return super().expression(node)

    def plain(self, node: ast.expr) -> Tree:
        tree, unit = self.expression(node)
        if unit not in (None, NUMBER):
            self.fail(node, f"found `{ast.unparse(node)}` ({unit}), expected a number without a unit")
        return tree

    def power(self, node: ast.BinOp) -> Term:
        """Read a power. `x ** 3` becomes a product; higher powers require numbers without a unit."""
        match node.right:
            case ast.Constant(value=int(times)) if 2 <= times <= _HIGHEST:
                tree, unit = self.expression(node.left)
                unit = unit or NUMBER
                return reduce(partial(Binary, "*", line=node.lineno), [tree] * times), reduce(
                    operator.mul, [unit] * times
                )
        return Function("power", (self.plain(node.left), self.plain(node.right)), node.lineno), NUMBER

    def check_product(self, node: ast.BinOp, left: Tree, right: Tree) -> None:
        """Accept every product, including products of unknowns."""

    def check_division(self, node: ast.BinOp, divisor: Tree) -> None:
        if not self.read_names(divisor) and self.value_of(divisor) == 0:
            self.fail(node, f"divides by `{ast.unparse(node.right)}`, which is 0; expected another divisor")


_UNKNOWN = "an unknown unit"


def _common(first: Returned, second: Returned) -> Returned:
    """Return the unit that both units fit, or _UNKNOWN. 0 fits every unit."""
    if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
        parts: tuple[Any, ...] = tuple(map(_common, first, second))
        return _UNKNOWN if _UNKNOWN in parts else parts
    if None in (first, second) and not isinstance(first, tuple) and not isinstance(second, tuple):
        return first or second
    return first if first == second else _UNKNOWN


def _said(unit: Returned) -> str:
    return f"[{', '.join(map(_said, unit))}]" if isinstance(unit, tuple) else str(unit or 0)
