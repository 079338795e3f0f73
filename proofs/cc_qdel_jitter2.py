"""cc_qdel on CCAC with D = 2 R_m and an infinite buffer: beliefs converge, the link is used, and the queue drains.

Steps last an R_m. Windows last 15 R_m; in windows of 13 and 14 R_m, C_L may fall while C_U is too low. The author chose
constants whose edges take long to find. They bound the beliefs, the queue and the bytes in flight, and the speed at
which true bounds move and the queue drains.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs.cc_qdel_varying import on

PROOF = replace(
    on(
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
    ),
    formerly=("82ebcdf8530eac8f05c842145e8b2b0fa5fb84fe9d88d98cce8d79f6a50aac41",),
)
