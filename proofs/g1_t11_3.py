"""g1_t11_3 on CCAC with an infinite buffer: a controller of query G1 that the paper does not discuss.

It sends almost nothing while it observes a queue. The states are those of cc_qdel. In windows of 9 R_m, C_L may fall
while C_U is too low; in windows of 10 R_m it cannot.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs import cc_qdel as qdel
from ccmatic.proofs.link_rate import constants, converged_stay, states

PROOF = replace(
    qdel.PROOF,
    buffer="infinite",
    horizon=11,
    states=states(qdel.sent_twice),
    constants=constants(
        C_U_most={"at": Fraction(3), "front": (Fraction(2), Fraction(4))},
        C_L_least={"step": Fraction(1, 200)},
    ),
    lemmas=(converged_stay(qdel.sent_twice),),
    formerly=(
        "0acbd7f0af4d25c564a57c21daca4a6d6b46b865b7d47e6d65a62382eeb1f781",
        "0751f980abad64dd96bdc78d8f7b6bb07e7db915878e26de49abf2da89a77e71",
    ),
)
