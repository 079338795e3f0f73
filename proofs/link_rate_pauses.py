"""What controllers by C_L keep for ever on CCAC while their application pauses at any time.

True beliefs stay true. A pause may last until C_L times out and falls, so no bound of C_L from below lasts. Therefore
the share of the link is that of windows without a pause that begin with C_L of at least C/2.
"""

from ccmatic.proofs.aimd import ANY
from ccmatic.proofs.belief_parts import constant
from ccmatic.proofs.link_rate import true
from ccmatic.properties.performance import utilises

from ccmatic.contracts import Objective, Proof, State
from ccmatic.logic import every, implies, no


def uses_link(x, c):
    """The link is used if C_L is at least C/2 at first, and no step after the first has a pause."""
    sends = every([no(limited) for limited in x.flows[0].limited[1:]])
    return implies(every(sends, x.beliefs["C_L"][0] >= x.C / 2), utilises(x, c["utilisation"]))


USES_LINK = Objective(
    "uses the link",
    "without a pause, and if C_L ≥ C/2 at first, the link delivers at least {utilisation} of C(T - D)",
    uses_link,
)

PROOF = Proof(
    model="ccac:application=pauses",
    buffer="infinite",
    horizon=9,
    beliefs=("C_L", "C_U"),
    states=(State("true", "C_L ≤ C ≤ C_U", holds=lambda x, t, c: true(x, t), ensures=(USES_LINK,)), ANY),
    constants=(constant("utilisation", "share of C(T - D) delivered without a pause, at least", "1/10", 1),),
)
