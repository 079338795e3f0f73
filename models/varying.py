"""CCAC on a link whose rate moves: at any time it is between C and γ·C, here with γ = 3/2; C is the least."""

from fractions import Fraction

from ccmatic.models.ccac import CCAC

from ccmatic.logic import either, every, implies


class Varying(CCAC):
    """docs/encoding.md, section 2. For another γ, a subclass: see `models/varying_2.py`."""

    name = "varying"
    variation = Fraction(3, 2)
    bottleneck = "varying token bucket"

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
