"""cc_qdel on CCAC with D = 2 R_m and an infinite buffer, in steps of R_m: beliefs converge, the link is used, and the
queue drains.

Windows are of 15 R_m: in those of 13 and 14 R_m C_L may fall while C_U is too low. Chosen are bounds whose edges take
long to find: of the beliefs, the queue and what is inflight, and of how fast true bounds move and the queue drains.
"""

from fractions import Fraction

from ccmatic.proofs.cc_qdel_varying import on

PROOF = on(
    "ccac",
    Fraction(1),
    jitter=2,
    horizon=16,
    C_U_most=Fraction(3),
    C_L_least=Fraction(3, 5),
    queue=Fraction(4),
    inflight=Fraction(8),
    drain=Fraction(1, 20),
    shrink=Fraction(101, 100),
)
