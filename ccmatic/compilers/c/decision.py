"""A controller's decision as C: integers only, its conditions decided exactly, its rate rounded down.

Bytes, bytes per step and whole steps are integers, R_m is one step and D a whole number of them.
"""

from fractions import Fraction

from ccmatic.compilers.c.expression import Expression
from ccmatic.language import Between

#: No belief is larger: 2^40 bytes, or bytes per step.
LARGEST = 2**40


def decision_body(controller, jitter):
    """The statements of a C function's body that return the controller's rate, bytes per step, rounded down, at least
    0; `int64_t` variables named as its parameters are in scope. Of an envelope: that nearest to `wanted`, a `uint64_t`
    in scope. jitter: D in steps.

    Raises InputError where integers of 64 bits cannot hold a term, or a divisor is 0.
    """
    writer = _Decision({"R_m": Fraction(1), "D": Fraction(jitter)}, controller.file)
    return writer.body(controller.body, writer.returned)


class _Decision(Expression):
    def variable(self, leaf):
        return leaf.name, 1, LARGEST

    def returned(self, tree):
        if isinstance(tree, Between):
            return [f"return ccm_nearest(wanted, {self.rate(tree.low)}, {self.rate(tree.high)});"]
        return [f"return {self.rate(tree)};"]

    def rate(self, tree):
        common = self.denominator(tree)
        return f"ccm_divided({self.term(tree, common)}, {common})"
