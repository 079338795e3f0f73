"""A controller's decision as C code with integers only. Conditions are decided exactly, and the rate is rounded down.

Bytes, bytes per step and whole steps are integers. R_m is one step, and D is a whole number of steps. If a network's
layers need more than 64 bits, the rate is computed in floating point, with a 32-bit mantissa and a power of two
(law.py). A rate that contains a tanh is computed in single floats (curved.py).
"""

from fractions import Fraction

from ccmatic.language import Between
from ccmatic.worlds.c.curved import ERROR, curved, is_curved
from ccmatic.worlds.c.expression import Expression
from ccmatic.worlds.c.law import wide

#: The largest value of a belief: 2^40 bytes, or 2^40 bytes per step.
LARGEST = 2**40


class Decision(Expression):
    """Writes the decision of a controller, with the prefix of the functions that the C code calls.

    Attributes:
        lines: The statements of a C function that returns the rate in bytes per step, rounded down and at least 0. The
            function needs variables of type `int64_t` with the names of the controller's parameters. For an envelope,
            the function returns the allowed rate nearest to the variable `wanted`, a `uint64_t`.
        error: The largest error of the rate, in words; None if rounding down is the only source of error.
        headers: The names of the optional runtime headers that the code needs.
    """

    def __init__(self, controller, jitter, prefix="ccm"):
        super().__init__({"R_m": Fraction(1), "D": Fraction(jitter)}, controller.file)
        self.controller, self.error, self.headers = controller, None, set()
        self.prefix = prefix
        self.lines = self.statements(controller.body, self.returned)

    def variable(self, leaf):
        return leaf.name, 1, LARGEST

    def returned(self, tree):
        if isinstance(tree, Between):
            return [f"return ccm_nearest(wanted, {self.rate(tree.low)}, {self.rate(tree.high)});"]
        return [f"return {self.rate(tree)};"]

    def rate(self, tree):
        if is_curved(tree):
            self.error = ERROR
            self.headers.add("floats")
            return f"ccm_divided(ccm_floored_float({curved(self, tree)}), 1)"
        if self.is_wide_layer(tree):
            number = wide(self, tree)
            self.error = number.error
            self.headers.add("law")
            return f"ccm_divided(ccm_whole({number.word}), 1)"
        common = self.denominator(tree)
        return f"ccm_divided({self.term(tree, common)}, {common})"
