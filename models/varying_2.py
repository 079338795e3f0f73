"""`varying` with γ = 2: a rate that doubles and halves."""

from ccmatic.models.varying import Varying


class Twofold(Varying):
    """docs/encoding.md, section 2."""

    name = "varying_2"
    variation = 2


MODEL = Twofold()
