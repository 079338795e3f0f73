"""cc_qdel on a link whose rate moves between C and 2·C, with an infinite buffer: as on one that moves by half."""

from fractions import Fraction

from ccmatic.proofs.cc_qdel_varying import on

PROOF = on(
    "varying_2",
    Fraction(2),
    C_U_most=Fraction(6),
    C_L_least=Fraction(1, 2),
    queue=Fraction(9),
    inflight=Fraction(12),
)
