"""CCAC on a link whose rate moves: at any time it is between C and γ·C, here with γ = 3/2; C is the least."""

from fractions import Fraction
from typing import ClassVar

from ccmatic.models.ccac import CCAC

from ccmatic.base import InputError
from ccmatic.contracts import number
from ccmatic.logic import either, every, implies


class Varying(CCAC):
    """docs/encoding.md, section 2.

    Args:
        variation: γ, 3/2 by default; a subclass may set another.
    """

    variation = Fraction(3, 2)
    parameters: ClassVar = {"variation": number("variation")}

    def __init__(self, variation=None):
        if variation is not None:
            if variation < 1:
                raise InputError(f"variation is {variation}; expected at least 1")
            self.variation = variation
        super().__init__()

    @property
    def name(self):
        """With γ, if it is not 3/2: so that records of it name it."""
        return "varying" if self.variation == Fraction(3, 2) else f"varying:variation={self.variation}"

    def network(self, x):
        """Also, what was sent before (-1, 0], in which no more was than r at 0, is late by two steps at 1."""
        yield from super().network(x)
        if x.horizon > 1:
            older = every(x.S[1] > x.S[0], x.S[1] <= x.admitted(0) - x.r[0])
            yield "Q_is_time_since_sent_at_r", 1, implies(older, x.Q.at_least(1, 2))

    def losses(self, x):
        """The buffer may be full at some time in a step at whose end it is not; no token is wasted in such a step."""
        if not x.buffer.finite:
            return
        for t in range(x.horizon):
            yield "fits_in_buffer", t, x.admitted(t) <= x.K[t] + x.beta
            if t:
                excess = x.A[t] - x.L[t - 1] - x.K[t - 1] - x.beta
                busy = every(excess > x.C, x.K[t] - x.K[t - 1] >= x.C)
                full = either(x.limited[t], excess > 0, busy)
                yield "lost_when_full", t, implies(x.L[t] > x.L[t - 1], full)


MODEL = Varying()
