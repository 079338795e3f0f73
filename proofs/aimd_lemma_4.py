"""Lemma 4 of CCAC's aimd_proofs.py with β = 3·C·R_m, where the script leaves the longest queue at C·R_m.

The buffer is never full then, and no packet is lost. So the lemma's statement about losses is vacuous.
"""

from dataclasses import replace

from ccmatic.proofs.aimd import ANY, LEMMAS, PROOF

from ccmatic.contracts import Lemma
from ccmatic.logic import equal

NO_LOSS = Lemma("no loss at all", lambda x, c: True, lambda x, c: equal(x.L[x.horizon - 1], x.L[0]), paper=True)

PROOF = replace(
    PROOF,
    model="ccac2021_anywhere_short_queue",
    buffer="3",
    states=(ANY,),
    lemmas=(*LEMMAS[-2:], NO_LOSS),
    formerly=("7365f5450fc2d808774f90dcd6c8e8b7f28502dfaf3481780ed6ee7df8bd80e7",),
)
