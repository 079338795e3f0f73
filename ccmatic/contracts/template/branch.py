"""Templates of controllers that are functions of beliefs, built from nested `Branch`es.

A hole is a tuple of `Form`s, the linear forms that may fill the hole. In the hole of a condition, a form stands for
"form > 0". In the hole of a leaf, the form is the sending rate.
"""

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, Union

from ccmatic.base import CONSTANTS, InputError, syntax_tree
from ccmatic.base import docstring as embedded
from ccmatic.contracts.template.space import Template


@dataclass(frozen=True)
class Form:
    """A linear form: (term, coefficient) pairs with nonzero coefficients.

    Terms are texts in the language of controllers, such as `MSS / R_m`.
    """

    coefficients: tuple[tuple[str, Fraction], ...]

    def __str__(self) -> str:
        text = ""
        for term, coefficient in self.coefficients:
            size = abs(coefficient)
            scaled = term if size == 1 else f"{size} * {term}"
            sign = "-" if coefficient < 0 else "+"
            text += f" {sign} {scaled}" if text else scaled if sign == "+" else f"-{scaled}"
        return text or "0"

    def positive(self) -> str:
        """Return the text of the condition "form > 0".

        Each term stands on the side of > where its coefficient is positive.
        """
        left = Form(tuple((term, c) for term, c in self.coefficients if c > 0))
        right = Form(tuple((term, -c) for term, c in self.coefficients if c < 0))
        return f"{left} > {right}"

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset[str]().union(*(names_in(term) for term, _ in self.coefficients))

    @cached_property
    def beliefs(self) -> tuple[tuple[str, Fraction], ...]:
        """The terms that contain a belief.

        Forms that are equal in these terms belong to one class (docs/reference/encoding.md, section 9).
        """
        return tuple((term, c) for term, c in self.coefficients if not names_in(term) <= CONSTANTS.keys())


#: Three types: the forms that may fill a hole, the part of a template after a condition, and the path to a leaf. A path
#: consists of pairs (hole of the condition, truth of the condition).
Hole = tuple[Form, ...]
Part = Union["Branch", Hole]
Path = tuple[tuple[int, bool], ...]


def linear_forms(domains: Mapping[str, Iterable[Fraction | int | str]]) -> Hole:
    """Return every linear form over `domains`, a mapping from each term to its possible coefficients.

    Raises:
        InputError: If there is no term, or a term has no coefficients.
    """
    empty = [term for term, values in domains.items() if not values]
    if empty or not domains:
        raise InputError(f"no coefficients for {', '.join(empty) or 'any term'}; expected one at least for each term")
    choices = product(*([(term, Fraction(c)) for c in values] for term, values in domains.items()))
    return tuple(dict.fromkeys(Form(tuple((t, c) for t, c in chosen if c)) for chosen in choices))


def names_in(term: str) -> set[str]:
    return {node.id for node in ast.walk(_tree(term)) if isinstance(node, ast.Name)}


def value_of(term: str, values: Mapping[str, Fraction]) -> Fraction:
    """Return the exact value of a term. `values` gives the value of each name in it."""
    return _value(_tree(term), values)


_PRODUCTS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@lru_cache(maxsize=1024)
def _tree(term: str) -> ast.expr:
    """Return the syntax tree of a product or quotient of names and integers; InputError for any other text."""
    try:
        tree = syntax_tree(term, mode="eval").body
    except SyntaxError:
        tree = ast.Constant(None)
    if not _is_product(tree):
        raise InputError(f"'{term}' is not a term, such as C_L or MSS / R_m")
    return tree


def _is_product(node: ast.expr) -> bool:
    match node:
        case ast.Name() | ast.Constant(value=int()):
            return True
        case ast.BinOp(left, ast.Mult() | ast.Div(), right):
            return _is_product(left) and _is_product(right)
    return False


def _value(node: ast.expr, values: Mapping[str, Fraction]) -> Fraction:
    match node:
        case ast.Name(name):
            return Fraction(values[name])
        case ast.Constant(int(number)):
            return Fraction(number)
        case ast.BinOp(left, operation, right):
            return _PRODUCTS[type(operation)](_value(left, values), _value(right, values))
    raise TypeError(f"no term: {ast.dump(node)}")


@dataclass(frozen=True)
class Branch(Template[Form]):
    """`if condition > 0: then, else: otherwise`. The condition is a hole; the other parts are holes or branches."""

    condition: Hole
    then: Part
    otherwise: Part

    def holes(self) -> tuple[Hole, ...]:
        return (self.condition, *_holes(self.then), *_holes(self.otherwise))

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset[str]().union(*(form.names for hole in self.holes() for form in hole))

    def leaves(self) -> list[tuple[Path, int]]:
        """Return the path and the hole of each leaf, as indices of holes. A path consists of (hole, truth) pairs."""
        return list(_leaves(self, 0, ()))

    def condition_holes(self) -> set[int]:
        return {hole for path, _ in self.leaves() for hole, _ in path}

    def source(self, forms: Sequence[Form], docstring: str) -> str:
        names = sorted(set[str]().union(*(form.names for form in forms)))
        body = _statements(self, iter(forms), "    ")
        return f"def rate({', '.join(names)}):\n    {embedded(docstring)}\n" + "\n".join(body) + "\n"

    def kind(self, forms: Sequence[Form]) -> tuple[Any, ...]:
        """Return the coefficients of beliefs, which all members of a class share.

        The coefficients of constants may differ within a class.
        """
        return tuple(form.beliefs for form in forms)

    def samples(self) -> Iterator[str]:
        """Yield controllers that test one form each: a form for each set of terms in conditions, and in leaves."""
        conditions = self.condition_holes()
        checked = set()
        for index, hole in enumerate(self.holes()):
            for form in hole:
                kind = index in conditions, tuple(term for term, _ in form.coefficients)
                if kind not in checked:
                    checked.add(kind)
                    body = f"if {form.positive()}: return 0\n    return 0" if kind[0] else f"return {form}"
                    yield f"def rate({', '.join(sorted(form.names))}):\n    {body}\n"

    def described(self) -> Any:
        return [[str(form) for form in hole] for hole in self.holes()]


def _holes(node: Part) -> tuple[Hole, ...]:
    return node.holes() if isinstance(node, Branch) else (node,)


def _leaves(node: Part, index: int, path: Path) -> Iterator[tuple[Path, int]]:
    if not isinstance(node, Branch):
        yield path, index
        return
    then = index + 1
    otherwise = then + len(_holes(node.then))
    yield from _leaves(node.then, then, (*path, (index, True)))
    yield from _leaves(node.otherwise, otherwise, (*path, (index, False)))


def _statements(node: Part, forms: Iterator[Form], indent: str, keyword: str = "if") -> list[str]:
    if not isinstance(node, Branch):
        return [f"{indent}return {next(forms)}"]
    lines = [f"{indent}{keyword} {next(forms).positive()}:", *_statements(node.then, forms, indent + "    ")]
    if isinstance(node.otherwise, Branch):
        return lines + _statements(node.otherwise, forms, indent, "elif")
    return lines + _statements(node.otherwise, forms, indent)
