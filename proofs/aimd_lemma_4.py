"""Lemma 4 of CCAC's aimd_proofs.py with β = 3·C·R_m, where the script leaves the longest queue at C·R_m.

The buffer is never full then: nothing is lost, and what the lemma says of losses is of none.
"""

from dataclasses import replace

from ccmatic.proofs.aimd import ANY, LEMMAS, PROOF

from ccmatic.contracts import Lemma
from ccmatic.logic import equal

NO_LOSS = Lemma("no loss at all", lambda x, c: True, lambda x, c: equal(x.L[x.horizon - 1], x.L[0]), paper=True)

PROOF = replace(PROOF, model="ccac2021_anywhere_short_queue", buffer="3", states=(ANY,), lemmas=(*LEMMAS[-2:], NO_LOSS))
