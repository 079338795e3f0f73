"""Exact numbers for the literals in a controller's Python source."""

import ast
import re
from fractions import Fraction

from ccmatic.base import exact


class Literals:
    """Reads the literals of a source as the exact numbers that their digits spell.

    For example, the literal 0.1 means 1/10 and not the float nearest to it.
    """

    def __init__(self, source: str) -> None:
        self.lines = [line.encode() for line in re.split("\r\n?|\n", source)]

    def text(self, node: ast.expr) -> str:
        if node.lineno != node.end_lineno:
            return ast.unparse(node)
        return self.lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()

    def value(self, node: ast.Constant) -> Fraction:
        return exact(node.value if isinstance(node.value, int) else self.text(node).replace("_", ""))
