"""cc_qdel on CCAC with D = 2 R_m and an infinite buffer, in steps of R_m: beliefs converge, and the link is used.
Windows are of 15 R_m: in those of 13 and 14 R_m C_L may fall while C_U is too low. How fast true bounds move is chosen:
the edge of that takes long to find.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs.cc_qdel_varying import on

FOUND = on("ccac", Fraction(1), Fraction(3, 5), jitter=2, horizon=16)
PROOF = replace(FOUND, constants=(*FOUND.constants[:-1], replace(FOUND.constants[-1], at=Fraction(21, 20))))
