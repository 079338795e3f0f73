"""How large a controller may be, so that nothing that is done with one takes long, whoever wrote it."""

import ast
from math import prod

from ccmatic.language.tree import Binary, Number, leaves, parts

#: Of a controller: returns, levels of nesting, characters, names and numbers.
MAX_PATHS, MAX_DEPTH, MAX_LENGTH, MAX_SIZE = 100, 100, 2**16, 40_000

#: Of one term: its names and numbers, the digits of its numbers in all, and its terms when it is multiplied out.
MAX_LEAVES, MAX_DIGITS, MAX_TERMS = 200, 2000, 1000


def too_deep(module):
    """A node of Python's syntax, an `ast.Module`, nested more than MAX_DEPTH levels deep, or None."""
    level = [module]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return next((node for node in level if hasattr(node, "lineno")), level[0] if level else None)


class Size:
    """The size of what has been read of a controller, and of the term that is being read. Its methods say why it is too
    large, in words, or None."""

    def __init__(self):
        self.total = self.leaves = self.digits = 0

    def grown(self, tree):
        """The term has another part, a tree: why it is too large with it, or None."""
        found = list(leaves(tree))
        self.total += len(found)
        self.leaves += len(found)
        self.digits += sum(_digits(leaf.value) for leaf in found if isinstance(leaf, Number))
        if self.leaves > MAX_LEAVES:
            return f"found a term of more than {MAX_LEAVES} names and numbers{_WRITTEN_OUT}, expected fewer"
        if self.digits > MAX_DIGITS:
            return f"found a term whose numbers have more than {MAX_DIGITS} digits, expected fewer"
        if self.total > MAX_SIZE:
            return f"found a controller of more than {MAX_SIZE} names and numbers{_WRITTEN_OUT}, expected fewer"
        return None

    def ended(self, tree):
        """The term, or the condition, is whole, a tree: why it is too large, or None."""
        self.leaves = self.digits = 0
        if _depth(tree) > MAX_DEPTH:
            return f"nested too deeply{_WRITTEN_OUT}, expected at most {MAX_DEPTH} levels"
        if _terms(tree) > MAX_TERMS:
            return f"found a term that has more than {MAX_TERMS} terms when it is multiplied out, expected fewer"
        return None


_WRITTEN_OUT = ", with what is assigned written out"


def _digits(number):
    return (number.numerator.bit_length() + number.denominator.bit_length()) // 3


def _depth(tree):
    return 1 + max(map(_depth, parts(tree)), default=0)


def _terms(tree):
    counts = [_terms(part) for part in parts(tree)]
    multiplied = isinstance(tree, Binary) and tree.op in "*/"
    return prod(counts) if multiplied else sum(counts) or 1
