"""The grid of envelopes around a controller: a factor multiplies each of the two ends of each returned rate."""

import ast
import re
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from ccmatic.base import InputError, docstring, syntax_tree
from ccmatic.controllers import Controller, parse

#: The largest number of envelopes on a grid. A search stores some bits for each envelope.
MOST = 10**7

#: An envelope of a grid, as a tuple: for each end, the index of its factor.
Point = tuple[int, ...]

_DOCSTRING = re.compile(r'^    """.*?"""\n', re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class End:
    """One end of a returned rate."""

    line: int
    #: `low` or `high`.
    which: str
    #: The factors by which the end may be multiplied, starting with 1.
    factors: tuple[Fraction, ...]


def counts(step, most):
    """Return the number of factors of a lower end and of an upper end.

    Raise InputError for an invalid step or maximum.
    """
    if not 0 < step <= 1 or most < 1 or (1 / step).denominator > 1:
        problem = f"the step is {step}, the largest factor {most}"
        raise InputError(f"{problem}; expected a step that 1 is a multiple of, and a factor of at least 1")
    return int(1 / step) + 1, int((most - 1) / step) + 1


class Grid:
    """All envelopes in which factors multiply the ends of a controller's rates.

    Lower ends are multiplied by 1, 1 - step, … 0, and upper ends by 1, 1 + step, … `most`. A point of the grid has, for
    each end, the index of its factor. A larger index means a wider envelope.

    `ends` has a lower and an upper End for each `return` statement, in the order of the source.
    """

    def __init__(self, controller, beliefs, step, most):
        if not isinstance(controller, Controller):
            raise InputError("a controller with state cannot be widened; expected one by beliefs", controller.file)
        self.controller, self._beliefs, self.step, self.most = controller, beliefs, step, most
        ends = [
            (node.lineno, which, change, 1 if _is_zero(rate) else count)
            for node in _returns(syntax_tree(controller.source))
            for which, change, count, rate in zip(
                ("low", "high"), (-step, step), counts(step, most), _between(node.value), strict=True
            )
        ]
        self.shape = tuple(count for *_, count in ends)
        self.size = prod(self.shape)
        if self.size > MOST:
            message = f"{self.size:,} envelopes; expected {MOST:,} at most: a longer step, or a smaller factor"
            raise InputError(message, controller.file)
        self.ends = tuple(
            End(line, which, tuple(1 + i * change for i in range(count))) for line, which, change, count in ends
        )

    def source(self, point, says):
        """Return the Python text of the envelope at a point, with the docstring `says`."""
        module = syntax_tree(_DOCSTRING.sub("", self.controller.source))
        returns = _returns(module)
        factors = [end.factors[i] for end, i in zip(self.ends, point, strict=True)]
        for node, low, high in zip(returns, factors[::2], factors[1::2], strict=True):
            least, most = _between(node.value)
            if low != 1 or high != 1:
                node.value = syntax_tree(f"between({_times(low, least)}, {_times(high, most)})", mode="eval").body
        body = [node for node in module.body if not _is_text(node)]
        return f"{docstring(says)}\n\n\n{ast.unparse(ast.Module(body, []))}\n"

    def envelope(self, point, says="", name=None):
        return parse(self.source(point, says), name or f"{self.controller.name}_wider", None, self._beliefs)

    def least(self, trace):
        """Return the narrowest envelope that allows the rates of a trace. Every wider one allows these rates, too."""
        widest = [size - 1 for size in self.shape]
        if not self._allows(widest, trace):
            raise InputError("the trace has a rate that no envelope allows")
        return tuple(
            next(i for i in range(size) if self._allows([*widest[:end], i, *widest[end + 1 :]], trace))
            for end, size in enumerate(self.shape)
        )

    def _allows(self, point, trace):
        chosen = zip(trace.columns["r"][1:], trace.allowed(self.envelope(point)), strict=True)
        return all(allowed and allowed.low <= r <= allowed.high for r, allowed in chosen)


def _returns(module):
    nodes = [node for node in ast.walk(module) if isinstance(node, ast.Return)]
    return sorted(nodes, key=lambda node: (node.lineno, node.col_offset))


def _between(value):
    match value:
        case ast.Call(func=ast.Name("between"), args=[low, high]):
            return low, high
    return value, value


def _is_zero(rate):
    return isinstance(rate, ast.Constant) and rate.value == 0


def _times(factor, rate):
    """Return a rate times a factor.

    A negative rate counts as 0, because in both cases the sender sends the minimum, one packet per R_m.
    """
    text = ast.unparse(rate)
    if factor == 0 or _is_zero(rate):
        return "0"
    if any(isinstance(node, ast.Sub | ast.USub) for node in ast.walk(rate)):
        text = f"max(0, {text})"
    return text if factor == 1 else f"{factor} * ({text})"


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
