"""Step 4 of Theorem 6.1 by a solver: the least number of round trips in which rates exist that reach C.

The unknowns are the rates c_0 = C_0 ≤ c_1 ≤ … ≤ c_k, each the C_Llambda of a round trip, the largest rate of which the
sender can be sure. In a round trip it sends a burst of c_(i+1)·β_s, of which c_i·β_s fit into the buffer of the slowest
link that it may be on; so it risks β_s·(c_(i+1) - c_i), at most f(c_i). (The same risk over an interval T > 0 raises
C_Llambda by the risk over T + β_s, so by less.) F is not used here: that the answer is F⁻¹(C) is for tests and for the
command to see.

f linear is stated exactly. Above a concave f stands a tangent for each round trip: a line of rational numbers that is
certainly at least f on all of [C_0, C]. So "no" holds for f, whatever the rates. "Yes" is accepted only with a witness:
the rates that risk all that f certainly allows; if these fall short of C, the tangents are made finer.
"""

from dataclasses import dataclass

import sympy

from ccmatic.base import InputError
from ccmatic.logic import real
from ccmatic.solving import SAT, UNSAT, Checker, SolverOptions
from ccmatic.tradeoffs.allowances.enclosure import C, compiled, rounded_down, rounded_up

#: Significant bits of f at a point, and of a tangent's numbers, coarse first; its point has half as many.
EXACT_BITS, LINE_BITS = 192, (20, 48, 96)


@dataclass(frozen=True)
class Reached:
    """C is reached in `steps` round trips at the least, at these rates: one more than steps, each a Fraction."""

    steps: int
    rates: tuple


def least(allowance, path, targets=None, most=1000, options=SolverOptions()):
    """For each target (rates at most path.end, ascending; by default path.end alone) a Reached, or None where more
    than `most` round trips are needed or the solver cannot tell. options: SolverOptions. f must be linear or
    concave, and `allowance.require(path)` must hold; raises InputError."""
    if allowance.affine is None and not allowance.concave:
        raise InputError(f"the allowance '{allowance.text}' is neither linear nor concave; expected one that is")
    ramp = _Ramp(allowance, path, options)
    reached = dict.fromkeys([path.end] if targets is None else targets)
    for target in reached:
        while (answer := ramp.reach(target)) is False and ramp.steps < most:
            ramp.extend()
        if not answer:
            break
        reached[target] = Reached(ramp.steps, answer)
    return reached


class _Ramp:
    """The question for one number of round trips, extended by one at a time."""

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
        """k."""
        return len(self.rates) - 1

    def reach(self, target):
        """Rates that reach the target within the allowance; False if there are none, None if the solver cannot tell."""
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
        """One more round trip. Who has reached the last target need not go beyond it."""
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
        """In round trip i at most a + b·c_i is risked."""
        risk = (self.rates[i + 1] - self.rates[i]) * self.path.buffer_time
        self.checker.add(risk <= self.rates[i] * b + a)

    def _tangent(self, i):
        """In round trip i at most what the tangent of f at the witness's rate allows, rounded up."""
        bits = LINE_BITS[self.fineness]
        point = max(self.path.start, rounded_down(self.witness[i], bits // 2))
        smooth = _smallest(self.allowance.f, (point, point))
        value = compiled(smooth, EXACT_BITS)((point, point))[1]
        slopes = compiled(sympy.diff(smooth, C), EXACT_BITS)((point, point))
        slope = rounded_down(slopes[0], bits)
        # The true slope may be larger: between the point and C the line is then too low by at most this.
        slack = (slopes[1] - slope) * (self.path.end - point)
        self._risk_at_most(i, rounded_up(value - slope * point + slack, bits), slope)


def _smallest(f, at):
    """f with each `min` replaced by its part that is smallest there: nowhere less than f, as a concave f rises with
    every `min` in it."""
    while f.has(sympy.Min):
        inner = next(part for part in f.atoms(sympy.Min) if not any(arg.has(sympy.Min) for arg in part.args))
        f = f.subs(inner, min(inner.args, key=lambda arg: compiled(arg, EXACT_BITS)(at)[0]))
    return f
