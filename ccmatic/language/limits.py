"""Limits on the size of a controller. The limits ensure that no operation takes long, even for hostile input."""

import ast
from collections.abc import Iterable
from fractions import Fraction
from math import lcm, log2
from typing import NamedTuple

from ccmatic.base import InputError
from ccmatic.language.passes import Names, Value
from ccmatic.language.tree import Affine, Binary, Local, Number, Tree, parts
from ccmatic.language.walker import Visit, Walker

#: Limits on a source text: its length in characters, and the nesting depth of its syntax.
MAX_LENGTH, MAX_DEPTH = 2**20, 100

#: The limit on a controller: the number of names, numbers, returns and iterations of comprehensions on all its paths.
MAX_SIZE = 100_000

#: Limits on a term after its assigned names are expanded: the digits of its computed numbers, and its nesting depth.
MAX_DIGITS, MAX_LEVELS = 2000, 500

#: The limit on a term that is multiplied out, as in printed text: the number of its summands.
MAX_TERMS = 10_000

#: The largest number of names and numbers in a term whose assigned names printed text expands. Larger terms keep the
#: names.
MAX_WRITTEN = 200

#: Counts stop at this number, because shared subterms can make counts exponentially large.
_COUNTLESS = 10**9


def too_deep(module: ast.Module) -> ast.AST | None:
    """Return a syntax node that is nested more than MAX_DEPTH levels deep, if any."""
    level: list[ast.AST] = [module]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return next((node for node in level if hasattr(node, "lineno")), level[0] if level else None)


class Extent(NamedTuple):
    """The size of a term after its assigned names are expanded.

    Attributes:
        leaves: The number of occurrences of names and numbers.
        levels: The nesting depth.
        terms: The number of summands after the term is multiplied out.
        named: The number of summands if each Local counts as a single name.
        bits: A number of bits: every coefficient is below 2**bits in absolute value.
        over: A common denominator of all coefficients.
    """

    leaves: int = 1
    levels: int = 1
    terms: int = 1
    named: int = 1
    bits: int = 1
    over: int = 1

    @property
    def is_written_out(self) -> bool:
        """Whether printed text expands the assigned names in this term."""
        return self.leaves <= MAX_WRITTEN

    @property
    def refusal(self) -> str | None:
        """The reason why the term is too large, in words; None if the term is small enough."""
        if self.levels > MAX_LEVELS:
            return f"nested too deeply, with what is assigned written out, expected at most {MAX_LEVELS} levels"
        if (self.bits + self.over.bit_length()) * 3 > MAX_DIGITS * 10:
            return f"found a term whose numbers have more than {MAX_DIGITS} digits, expected fewer"
        if (self.terms if self.is_written_out else self.named) > MAX_TERMS:
            return f"found a term that has more than {MAX_TERMS} terms when it is multiplied out, expected fewer"
        return None


class Extents(Walker[Extent]):
    def __init__(self) -> None:
        super().__init__()
        self.names, self.value = Names(), Value()

    def visit_Number(self, node: Number) -> Extent:
        number = node.value
        return Extent(bits=max(1, abs(number.numerator).bit_length()), over=number.denominator)

    def visit_Local(self, node: Local) -> Visit[Extent]:
        return (yield node.term)._replace(named=1)

    def visit_Binary(self, node: Binary) -> Visit[Extent]:
        left, right = (yield node.left), (yield node.right)
        both = _joined(left, right)
        match node.op:
            case "*":
                bits, over = left.bits + right.bits, left.over * right.over
            case "/" if by := self.divisor(node.right, right):
                bits, over = left.bits + by.denominator.bit_length(), left.over * abs(by.numerator)
            case "/":
                bits, over = left.bits + right.bits + right.over.bit_length(), left.over
            case _:
                return both._replace(bits=both.bits + 1)
        multiplied = {"terms": left.terms * right.terms, "named": left.named * right.named}
        return both._replace(bits=bits, over=over, **{name: min(n, _COUNTLESS) for name, n in multiplied.items()})

    def divisor(self, tree: Tree, extent: Extent) -> Fraction | None:
        """Return the exact value of a divisor; None if it has no exact value, or its computation takes too long."""
        if self.names.walk(tree) or extent.refusal:
            return None
        try:
            number: Fraction = self.value.walk(tree)
        except InputError:  # the divisor contains a root
            return None
        return number

    def visit_Affine(self, node: Affine) -> Visit[Extent]:
        vector = yield node.vector
        rows = () if isinstance(node.weights, str) else node.weights
        numbers = [number for row in (*rows, () if isinstance(node.bias, str) else node.bias) for number in row]
        count, across = len(numbers), len(rows)
        bits = max((abs(number.numerator).bit_length() for number in numbers), default=1)
        return Extent(
            min(vector.leaves * across + count, _COUNTLESS),
            vector.levels + 1,
            min(vector.terms * across, _COUNTLESS),
            min(vector.named * across, _COUNTLESS),
            vector.bits + bits + int(log2(count + 1)) + 1,
            vector.over * lcm(*(number.denominator for number in numbers)),
        )

    def visit_object(self, node: Tree) -> Visit[Extent]:
        within = parts(node)
        return _joined(*(yield from self.results(within))) if within else Extent()

    visit_Function = visit_object


def _joined(*extents: Extent) -> Extent:
    leaves, levels, terms, named, bits, over = zip(*extents, strict=True)
    return Extent(_total(leaves), 1 + max(levels), _total(terms), _total(named), max(bits), lcm(*over))


def _total(counts: Iterable[int]) -> int:
    return min(sum(counts), _COUNTLESS)


class Size:
    """The size of the part of a controller read so far.

    Each method returns None, or the reason, in words, why the controller is too large.
    """

    def __init__(self) -> None:
        self.total = 0
        self.extents = Extents()

    def grown(self, more: int = 1) -> str | None:
        """Count `more` further names, numbers or returns."""
        self.total += more
        if self.total > MAX_SIZE:
            return f"found a controller of more than {MAX_SIZE} names and numbers on all paths, expected fewer"
        return None

    def ended(self, tree: Tree) -> str | None:
        return self.extents.walk(tree).refusal
