"""cc_qdel on a link whose rate moves between C and 1.1·C, with an infinite buffer: as on one that moves by half."""

from fractions import Fraction

from ccmatic.proofs.cc_qdel_varying import on

PROOF = on(
    "varying_1_1",
    Fraction(11, 10),
    C_U_most=Fraction(33, 10),
    C_L_least=Fraction(3, 5),
    queue=Fraction(7, 2),
    inflight=Fraction(6),
)
