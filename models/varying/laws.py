"""CCAC on a link whose rate varies at any time between C, the smallest rate, and γ·C. By default γ = 3/2."""

from fractions import Fraction
from typing import ClassVar

from ccmatic.models.ccac import CCAC

from ccmatic.base import InputError
from ccmatic.contracts import APPLICATION, number
from ccmatic.logic import either, every, implies


class Varying(CCAC):
    """The network of docs/reference/encoding.md, section 2, on a link of varying rate.

    Args:
        variation: The factor γ, which is the largest rate divided by the smallest rate: 3/2 by default. A subclass may
            set another value.
    """

    variation = Fraction(3, 2)
    parameters: ClassVar = {"variation": number("variation"), **APPLICATION}

    def __init__(self, variation=None, pauses=False):
        if variation is not None:
            if variation < 1:
                raise InputError(f"variation is {variation}; expected at least 1")
            self.variation = variation
        super().__init__(pauses)

    @property
    def name(self):
        """The model's name, which states γ unless γ is 3/2, so that records contain γ."""
        return "varying" if self.variation == Fraction(3, 2) else f"varying:variation={self.variation}"

    def network(self, x):
        """Yield the laws of CCAC, and one further law about the initial bytes.

        The sender sent at most r(0) bytes in (-1, 0]. Therefore, any older bytes that still wait at t = 1 are late by
        two steps.
        """
        yield from super().network(x)
        if x.horizon > 1:
            older = every(x.S[1] > x.S[0], x.S[1] <= x.admitted(0) - x.r[0])
            yield "Q_is_time_since_sent_at_r", 1, implies(older, x.Q.at_least(1, 2))

    def losses(self, x):
        """Yield the laws of the drop-tail buffer.

        The buffer may be full at some time in a step, but not at the end of the step. The link wastes no token in such
        a step.
        """
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
