"""cc_qdel on a link whose rate varies between C and 1.1·C, with an infinite buffer; see proofs/cc_qdel_varying.py."""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs.cc_qdel_varying import on

PROOF = replace(
    on(
        "varying_1_1",
        Fraction(11, 10),
        C_U_most=Fraction(33, 10),
        C_L_least=Fraction(3, 5),
        queue=Fraction(7, 2),
        inflight=Fraction(6),
    ),
    formerly=("65571ab1181cd03818838312da71ded15e379aa3cf89a3a71dd85416a60f0293",),
)
