"""Step 4 of Theorem 6.1 by a solver: the smallest number of round trips in which suitable rates reach C.

The unknowns are the rates c_0 = C_0 ≤ c_1 ≤ … ≤ c_k. Each rate is the C_Llambda of a round trip: the largest lower
bound on the link's rate that the sender knows. In a round trip, the sender sends a burst of c_(i+1)·β_s. The buffer of
the slowest possible link holds c_i·β_s of this burst. So the sender risks β_s·(c_(i+1) - c_i), which must be at most
f(c_i). (Over an interval T > 0, the same risk raises C_Llambda only by the risk divided by T + β_s.) The module does
not use F, so that tests and the command can compare its answer with F⁻¹(C).

The module encodes a linear f exactly, and a concave f by tangents, one per round trip. A tangent here is a line with
rational coefficients that is certainly at least f on [C_0, C]. So the answer "no" is valid for f, regardless of the
rates. The answer "yes" needs a witness: rates that risk as much as f certainly allows. If these rates do not reach
C, the module uses finer tangents.
"""

from dataclasses import dataclass

import sympy

from ccmatic.base import InputError
from ccmatic.logic import real
from ccmatic.logic.solving import SAT, UNSAT, Checker, SolverOptions
from ccmatic.tradeoffs.enclosure import C, compiled, rounded_down, rounded_up

#: The precisions to try, from coarse to fine: the number of significant bits of f at a point and of a tangent's
#: coefficients. The point at which a tangent touches f has half as many bits.
EXACT_BITS, LINE_BITS = 192, (20, 48, 96)


@dataclass(frozen=True)
class Climb:
    """The smallest number of round trips that reach a rate, and the rate after each of them, from the start on."""

    steps: int
    rates: tuple


def least(allowance, path, targets=None, most=1000, options=SolverOptions()):
    """Return the Climb to each target; None if the solver timed out or the target needs more than `most` round trips.

    The allowance is linear or concave, and `allowance.require(path)` must hold. Targets are rates of at most path.end,
    in ascending order; by default path.end only.
    """
    if allowance.affine is None and not allowance.concave:
        raise InputError(f"the allowance '{allowance.text}' is neither linear nor concave; expected one that is")
    ramp = _Ramp(allowance, path, options)
    reached = dict.fromkeys([path.end] if targets is None else targets)
    for target in reached:
        while (answer := ramp.reach(target)) is False and ramp.steps < most:
            ramp.extend()
        if not answer:
            break
        reached[target] = Climb(ramp.steps, answer)
    return reached


class _Ramp:
    """The solver query for one number of round trips. The method `extend` increases this number by one."""

    def __init__(self, allowance, path, options):
        self.allowance, self.path = allowance, path
        self.f = compiled(allowance.f, EXACT_BITS)
        self.checker = Checker(options)
        self.rates, self.witness = [real("c_0")], [path.start]
        self.fineness = 0
        self.checker.add(self.rates[0] >= path.start)
        self.checker.add(self.rates[0] <= path.start)

    @property
    def steps(self):
        return len(self.rates) - 1

    def reach(self, target):
        """Return rates that reach the target within the allowance; False if no rates do, and None after a timeout."""
        while (answer := self._ask(target)) == SAT:
            if self.witness[-1] >= target:
                return tuple(self.witness)
            self.fineness += 1
            if self.allowance.affine or self.fineness == len(LINE_BITS):
                return None
            for i in range(self.steps):
                self._tangent(i)
        return False if answer == UNSAT else None

    def _ask(self, target):
        self.checker.push()
        self.checker.add(self.rates[-1] >= target)
        answer = self.checker.check()
        self.checker.pop()
        if answer == UNSAT:
            self.checker.add(self.rates[-1] < target)
        return answer

    def extend(self):
        """Add a round trip. Its rate need not exceed the last target."""
        last, after = self.rates[-1], real(f"c_{len(self.rates)}")
        self.rates.append(after)
        self.checker.add(after >= last)
        self.checker.add(after <= self.path.end)
        if self.allowance.affine:
            self._risk_at_most(self.steps - 1, *self.allowance.affine)
        else:
            self._tangent(self.steps - 1)
        rate = self.witness[-1]
        most = rate + self.f((rate, rate))[0] / self.path.buffer_time
        self.witness.append(rounded_down(min(most, self.path.end), EXACT_BITS))

    def _risk_at_most(self, i, a, b):
        """Assert that round trip i risks at most a + b·c_i."""
        risk = (self.rates[i + 1] - self.rates[i]) * self.path.buffer_time
        self.checker.add(risk <= self.rates[i] * b + a)

    def _tangent(self, i):
        """Assert that round trip i risks at most the tangent of f at the witness's rate, rounded up."""
        bits = LINE_BITS[self.fineness]
        point = max(self.path.start, rounded_down(self.witness[i], bits // 2))
        smooth = _smallest(self.allowance.f, (point, point))
        value = compiled(smooth, EXACT_BITS)((point, point))[1]
        slopes = compiled(sympy.diff(smooth, C), EXACT_BITS)((point, point))
        slope = rounded_down(slopes[0], bits)
        # The slope is rounded down. Between the point and C, the rounding lowers the line by at most `slack`.
        slack = (slopes[1] - slope) * (self.path.end - point)
        self._risk_at_most(i, rounded_up(value - slope * point + slack, bits), slope)


def _smallest(f, at):
    """Replace each `min` in f by the operand that is smallest at this point.

    The result is nowhere below f, because f rises if any `min` in f rises. (This follows from the concavity of f.)
    """
    while f.has(sympy.Min):
        inner = next(part for part in f.atoms(sympy.Min) if not any(arg.has(sympy.Min) for arg in part.args))
        f = f.subs(inner, min(inner.args, key=lambda arg: compiled(arg, EXACT_BITS)(at)[0]))
    return f
