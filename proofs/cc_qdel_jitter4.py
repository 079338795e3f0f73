"""cc_qdel on CCAC with D = 4 R_m and an infinite buffer: why the proof for D = 2 does not extend to this D.

Steps last an R_m. While C_U is too low and rises, C_L may fall, so progress need not add up. This happens in windows of
17 R_m and of 19 (`--horizon 20`); for longer windows it is unknown. proofs/cc_qdel_varying.py
has the same lemma about this state, without constants. The proof here does not rest on it.
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
    formerly=(
        "0038f85c13e8e39d5dca87f6c15967ea43a9d29c433522ea37069f58b8da13ff",
        "3a5869db35068dda4b80d7706df89e736470813eee9bdb19e99ce3be3a85e669",
    ),
)
