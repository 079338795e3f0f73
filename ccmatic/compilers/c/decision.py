"""A controller's decision as C: integers only, its conditions decided exactly, its rate rounded down.

Bytes, bytes per step and whole steps are integers, R_m is one step and D a whole number of them. The rate of a
network whose layers need more than 64 bits is worked out in numbers of 32 bits and a power of two (law.py), that of one
with a tanh in single floats (curved.py).
"""

from fractions import Fraction

from ccmatic.compilers.c.curved import ERROR, curved, is_curved
from ccmatic.compilers.c.expression import Expression
from ccmatic.compilers.c.law import wide
from ccmatic.language import Between

#: No belief is larger: 2^40 bytes, or bytes per step.
LARGEST = 2**40


class Decision(Expression):
    """Writes the decision of a controller. jitter: D in steps; prefix: of the functions that it calls.

    Raises InputError where integers of 64 bits cannot hold what is compared, or a divisor is 0.

    `lines`: the statements of a C function's body that return the rate, bytes per step, rounded down, at least 0;
    `int64_t` variables named as its parameters are in scope. Of an envelope: that nearest to `wanted`, a `uint64_t` in
    scope. `error`: what its rate is wrong by at most, in words; None if it is rounded down and else exact. `headers`:
    those of the runtime that only some need, by name.
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
