"""`varying` with γ = 1.1: a rate that moves by a tenth."""

from fractions import Fraction

from ccmatic.models.varying import Varying


class ByATenth(Varying):
    """docs/encoding.md, section 2."""

    name = "varying_1_1"
    variation = Fraction(11, 10)


MODEL = ByATenth()
