"""cc_qdel on CCAC with D = 4 R_m and an infinite buffer, in steps of R_m: what keeps it from a proof as with D = 2.

While C_U is too low and rises, C_L may fall, so that progress need not add up: in windows of 17 R_m and of 19
(`--horizon 20`). Of longer ones it is not known. The lemma is the one that proofs/cc_qdel_varying.py has of that state,
in which there are no constants; nothing rests on it here.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs.aimd import ANY
from ccmatic.proofs.cc_qdel_varying import on

from ccmatic.contracts import Proof

LEMMAS = {lemma.name: lemma for lemma in on("ccac", Fraction(1), jitter=4).all_lemmas(None)}

PROOF = Proof(
    model="ccac",
    buffer="infinite",
    jitter=4,
    horizon=18,
    beliefs=("C_L", "C_U"),
    states=(ANY,),
    constants=(),
    lemmas=(replace(LEMMAS["C_U too low: nothing degrades"], paper=True),),
)
