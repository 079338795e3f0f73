"""cc_qdel on CCAC with D = 4 R_m, in windows of 19 R_m: C_L may fall while C_U is too low."""

from fractions import Fraction

from ccmatic.proofs.cc_qdel_varying import on

PROOF = on("ccac", Fraction(1), jitter=4, horizon=20, C_U_most=Fraction(3), C_L_least=Fraction(1, 2))
