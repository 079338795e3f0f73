"""cc_qdel on a link whose rate varies between C and 2·C, with an infinite buffer; see proofs/cc_qdel_varying.py."""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs.cc_qdel_varying import on

PROOF = replace(
    on(
        "varying_2",
        Fraction(2),
        C_U_most=Fraction(6),
        C_L_least=Fraction(1, 2),
        queue=Fraction(9),
        inflight=Fraction(12),
    ),
    formerly=("5e3ed1aeb9fc8352ce41573dd32e8279ea4f4611d20ce574589b91210200c4fd",),
)
