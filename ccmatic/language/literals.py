"""The literals of a controller's Python, read exactly."""

import ast
import re
from fractions import Fraction

from ccmatic.base import exact


class Literals:
    """The literals of a source and the numbers that their digits say: 0.1 is 1/10, not the float nearest to it."""

    def __init__(self, source: str) -> None:
        self.lines = [line.encode() for line in re.split("\r\n?|\n", source)]

    def text(self, node: ast.expr) -> str:
        """What is written there."""
        if node.lineno != node.end_lineno:
            return ast.unparse(node)
        return self.lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()

    def value(self, node: ast.Constant) -> Fraction:
        """The exact number. Raises InputError if it has too many digits."""
        return exact(node.value if isinstance(node.value, int) else self.text(node).replace("_", ""))
