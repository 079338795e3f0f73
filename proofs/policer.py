"""What controllers by C_L guarantee on a token-bucket policer with a bucket of any size.

C_L rises until it is high, and then stays high, so the link is used. No state bounds C_L from above, or C_U: a
burst may raise C_L above C, and losses make C_U small.
"""

from ccmatic.proofs.belief_parts import UTILISES, constant, of_belief

from ccmatic.contracts import Proof, State


def low(x, t, c):
    """C_L is below its final bound."""
    return x.beliefs["C_L"][t] < c["C_L_least"] * x.C


def high(x, t, c):
    """C_L is at least its final bound."""
    return x.beliefs["C_L"][t] >= c["C_L_least"] * x.C


PROOF = Proof(
    model="policer",
    buffer="any",
    horizon=8,
    beliefs=("C_L", "C_U"),
    states=(
        State(
            "C_L low",
            "C_L < {C_L_least}·C",
            holds=low,
            leads_to=("C_L high",),
            measures=(of_belief("C_L", "rise", falls=False, after=lambda factor, c: factor),),
        ),
        State("C_L high", "{C_L_least}·C ≤ C_L", holds=high, ensures=(UTILISES,)),
    ),
    constants=(
        constant("C_L_least", "C_L in the final state, at least, in C", "1/20", 1, "1/20"),
        constant("utilisation", "share of C(T - D) delivered, at least", "1/10", 1),
        constant("rise", "factor by which C_L rises while it is low", "101/100", 3, "1/20"),
    ),
)
