"""How large a controller may be, so that nothing that is done with one takes long, whoever wrote it."""

import ast
from math import prod

#: Of a controller: returns, levels of nesting, characters.
MAX_PATHS, MAX_DEPTH, MAX_LENGTH = 100, 100, 2**17

#: Of one term: its names and numbers, the digits of its numbers in all, and its terms when it is multiplied out.
MAX_LEAVES, MAX_DIGITS, MAX_TERMS = 200, 2000, 1000


def too_deep(module):
    """A node nested more than MAX_DEPTH levels deep, or None."""
    level = [module]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return next((node for node in level if hasattr(node, "lineno")), level[0] if level else None)


def too_large(node):
    """Why an expression is too large, in words, or None."""
    leaves = sum(isinstance(leaf, ast.Name | ast.Constant) for leaf in ast.walk(node))
    if leaves > MAX_LEAVES:
        return f"found a term of {leaves} names and numbers, expected at most {MAX_LEAVES}"
    if _terms(node) > MAX_TERMS:
        return f"found a term that has more than {MAX_TERMS} terms when it is multiplied out, expected fewer"
    return None


def _terms(node):
    parts = [_terms(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    multiplied = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)
    return prod(parts) if multiplied else sum(parts) or 1
