"""cc_probe_slow on CBR-delay with a buffer of any size: the shape of proofs/probes.py with the paper's numbers.

Section 6.3 of the paper makes these claims, but prints no lemmas for them.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs import probes
from ccmatic.proofs.belief_parts import with_values
from ccmatic.properties.performance import loses_at_most

from ccmatic.contracts import Lemma

LOSS, STALE, FALL, QUEUE, DRAIN, INFLIGHT, LEAST, CLIMB, UTILISATION = probes.PROOF.constants


def drained(x, t):
    """The queue is drained, with the constant of section 10."""
    return probes.drained(x, t, {"q_U_most": Fraction(321, 100)})


PAPERS = (
    Lemma("section 10: q_U of 3.21", lambda x, c: drained(x, 0), lambda x, c: drained(x, x.horizon - 1), paper=True),
    Lemma(
        "section 6.3: at most 2 packets lost",
        lambda x, c: probes.true(x, 0),
        lambda x, c: loses_at_most(x, 2),
        paper=True,
    ),
)

PROOF = replace(
    probes.PROOF,
    constants=with_values(
        (LOSS, FALL, STALE, QUEUE, DRAIN, INFLIGHT, CLIMB, LEAST, UTILISATION),
        loss={"paper": "2"},
        fall={"at": Fraction(19, 10), "paper": "1.9"},
        stale_utilisation={"front": (), "paper": "0.295"},
        q_U_most={"paper": "3.21"},
        inflight={"paper": "1.5, 1.7"},
        climb={"at": Fraction(3, 10), "front": (Fraction(1, 5),), "paper": "0.2"},
        C_Llambda_least={"front": (), "paper": "0.23"},
        utilisation={"paper": "0.3, 0.295"},
    ),
    lemmas=(*probes.LEMMAS, *PAPERS),
    formerly=(
        "581eb016c810d4d9d33b8606b75a74e3858dd88385e37610bab596a7b0d330a8",
        "091c480f4692de334a142ccb758545804ba2442f315fb18a2ec6887a5e107c4b",
    ),
)
