"""Templates: search spaces of controllers.

A template is a tree of branches with holes for linear forms, or a sketch with open numbers.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import prod
from textwrap import dedent
from typing import Any, Generic, TypeVar, Union

from ccmatic.base import CONSTANTS, InputError, counted, exact, syntax_tree
from ccmatic.base import docstring as embedded

F = TypeVar("F")


class Template(Generic[F]):
    """A search space of controllers. F is the type of the forms that fill the holes.

    A candidate is a choice of one form for each hole, or the tuple of the forms' indices.
    """

    def holes(self) -> tuple[tuple[F, ...], ...]:
        """Return the forms that may fill each hole, in source order."""
        raise NotImplementedError

    @property
    def names(self) -> frozenset[str]:
        """The beliefs, observations and constants that a candidate may read."""
        raise NotImplementedError

    def source(self, forms: Sequence[F], docstring: str) -> str:
        """Return the controller whose holes are filled with `forms`."""
        raise NotImplementedError

    def kind(self, forms: Sequence[F]) -> tuple[Any, ...]:
        """Return the part by which classes differ (docs/reference/encoding.md, section 9, "Counting")."""
        raise NotImplementedError

    def samples(self) -> Iterator[str]:
        """Yield sources to check before a search.

        Together, they contain each form, or another form of the same class.
        """
        raise NotImplementedError

    def described(self) -> Any:
        """Return the full content of the template as lists of text. A synthesis run records a digest of these lists."""
        raise NotImplementedError

    @cached_property
    def size(self) -> int:
        return prod(len(hole) for hole in self.holes())

    def forms(self, indices: Sequence[int]) -> tuple[F, ...]:
        """Return the forms with these indices, one for each hole; InputError for any other indices."""
        holes = self.holes()
        if len(indices) != len(holes) or any(
            type(index) is not int or not 0 <= index < len(hole) for index, hole in zip(indices, holes, strict=True)
        ):
            sizes = ", ".join(str(len(hole)) for hole in holes)
            raise InputError(f"the candidate is {list(indices)}; expected an index for each hole, below {sizes}")
        return tuple(hole[index] for hole, index in zip(holes, indices, strict=True))

    def candidate(self, indices: Sequence[int]) -> str:
        return self.source(self.forms(indices), "A candidate.")


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


#: The largest number of candidates of a sketch. The search runs each remaining candidate on each counterexample.
MOST = 10_000


@dataclass(frozen=True)
class Choice:
    """A possible value for an open number of a sketch."""

    name: str
    value: Fraction

    def __str__(self) -> str:
        return f"{self.name} = {str(self.value).replace('/', ' / ')}"


@dataclass(frozen=True)
class Sketch(Template[Choice]):
    """The text of a controller with some open numbers. A candidate has one value for each open number.

        Sketch("window: bytes = above(0)…", {"increase": (1, 2), "decrease": ("1/2", "3/4")})

    Attributes:
        text: A controller with state (docs/reference/stateful.md) without the definitions of some constants.
        numbers: The possible values of each of these constants, by name.

    Raises:
        InputError: If the text does not read an open constant, an open constant has no values, or there are too many
            candidates.
    """

    text: str
    numbers: Mapping[str, Iterable[Fraction | int | str]]
    _holes: tuple[tuple[Choice, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", dedent(self.text).strip() + "\n")
        holes = [self._hole(name, values) for name, values in self.numbers.items()]
        object.__setattr__(self, "_holes", tuple(holes))
        if self.size > MOST:
            raise InputError(f"the sketch has {self.size:,} candidates; expected at most {MOST:,}")

    def _hole(self, name: str, values: Iterable[Fraction | int | str]) -> tuple[Choice, ...]:
        if not (name.isidentifier() and re.search(rf"\b{name}\b", self.text)):
            raise InputError(
                f"the sketch leaves `{name}` open, but its text does not read it; expected a name in the text"
            )
        choices = tuple(dict.fromkeys(Choice(name, exact(value)) for value in values))
        if not choices:
            raise InputError(f"no numbers for `{name}`; expected one at least")
        return choices

    def holes(self) -> tuple[tuple[Choice, ...], ...]:
        return self._holes

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all parameters of the functions in the text."""
        functions = (node for node in ast.walk(syntax_tree(self.text)) if isinstance(node, ast.FunctionDef))
        return frozenset(argument.arg for function in functions for argument in function.args.args)

    def source(self, forms: Iterable[Choice], docstring: str) -> str:
        chosen = "".join(f"{choice}\n" for choice in forms)
        return f"{embedded(docstring)}\n\n{chosen}\n{self.text}"

    def kind(self, forms: Iterable[Choice]) -> tuple[Choice, ...]:
        """Return the choices themselves, because each candidate is the only member of its class."""
        return tuple(forms)

    def samples(self) -> Iterator[str]:
        """Yield a source for each choice of each number, combined with the first choices of the other numbers."""
        first = [hole[0] for hole in self._holes]
        for index, hole in enumerate(self._holes):
            for choice in hole:
                yield self.source([*first[:index], choice, *first[index + 1 :]], "A candidate.")

    def described(self) -> Any:
        return [self.text, [[str(choice) for choice in hole] for hole in self._holes]]


#: The text of a contract with a place for its levels.
_TEXT = """
level: bytes = between(MSS, top * MSS)


def update(acked, sent, lost, MSS, R_m, step):
{levels}


def send(level, R_m):
    return level / R_m
"""

_Numbers = Iterable[Fraction | int | str]


def contract_sketch(
    levels: int, top: _Numbers, factor: _Numbers, band: _Numbers, links: Sequence[Fraction | int | str], flows: int = 2
) -> Sketch:
    """Return the Sketch of contracts whose rate falls by a factor with each band of delay.

    The delay is the age, beyond R_m, of the oldest byte that is not acknowledged. The holes are `top`, `factor` and
    `band`.

    Args:
        levels: The number of levels.
        top: The possible highest levels, in packets per R_m.
        factor: The possible factors between a level and the next lower one.
        band: The possible lengths of a band, in steps.
        links: The least and the largest rate of the links, in packets per R_m, on which flows use the contracts.
        flows: The number of flows that share a link.

    Raises:
        InputError: For one of three reasons: a factor does not make the levels fall; a band is not a whole number of
            steps; or the links are slower than every lowest level, or faster than every highest level.
    """
    tops, factors, bands = ([exact(number) for number in numbers] for numbers in (top, factor, band))
    if levels < 2:
        raise InputError(f"the contract has {levels} levels, which do not fall; expected at least 2")
    for number in factors:
        if not 0 < number < 1:
            problem = f"the levels of a contract do not fall by the factor {number}"
            raise InputError(f"{problem}; expected a number between 0 and 1")
    for number in bands:
        if number < 1 or number.denominator != 1:
            raise InputError(f"a band of a contract has {number} steps; expected a whole number, at least 1")
    _require_reached(links, flows * min(tops) * min(factors) ** (levels - 1), flows * max(tops))
    numbers = {"top": tops, "factor": factors, "band": bands}
    return Sketch(_TEXT.format(levels="\n".join(_lines(levels))), numbers)


def _require_reached(links: Sequence[Fraction | int | str], least: Fraction, most: Fraction) -> None:
    low, high = map(exact, links)
    if low > high:
        raise InputError(f"the links have {low} to {high} packets per R_m; expected the lower rate first")
    if high > most:
        problem = f"no level reaches a link of {counted(high, 'packet')} per R_m, because the flows send at most {most}"
        raise InputError(f"{problem}; expected slower links, or a higher level")
    if low < least:
        link = f"a link of {counted(low, 'packet')} per R_m"
        problem = f"no level is low enough for {link}, because the flows send at least {least}"
        raise InputError(f"{problem}; expected faster links, more levels, or a smaller factor")


def _lines(levels: int) -> Iterable[str]:
    for number in range(levels - 1):
        age = f"({number + 1} * band - 1)" if number else "(band - 1)"
        yield f"    {'elif' if number else 'if'} acked + lost >= sent[R_m + {age} * step]:"
        yield f"        level = {_level(number)}"
    yield "    else:"
    yield f"        level = {_level(levels - 1)}"


def _level(number: int) -> str:
    return f"top * {'factor * ' * number}MSS"
