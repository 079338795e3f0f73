"""A small proof for tests: that cc_qdel's beliefs become true, and stay so."""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs import link_rate

from ccmatic.contracts.proof import Constant, Proof, State

CROSSED, *STALE = link_rate.PROOF.states[:3]
EMPTY = replace(CROSSED, leads_to=("C_L too high", "C_U too low", "true"))
HIGH, LOW = (
    replace(state, leads_to=("true",), measures=tuple(replace(measure, after=None) for measure in state.measures))
    for state in STALE
)
TRUE = State("true", "C_L ≤ C ≤ C_U", lambda x, t, c: link_rate.true(x, t))

PROOF = Proof(
    model="ccac",
    buffer="infinite",
    horizon=9,
    beliefs=("C_L", "C_U"),
    states=(EMPTY, HIGH, LOW, TRUE),
    constants=(
        Constant(
            "utilisation",
            "used at least",
            Fraction(0),
            Fraction(1),
            Fraction(1, 10),
            at=Fraction(1, 2),
            front=(Fraction(3, 5),),
        ),
        Constant("fall", "C_U falls by", Fraction(101, 100), Fraction(4), Fraction(1, 10)),
        Constant("rise", "a bound rises by", Fraction(101, 100), Fraction(2), Fraction(1, 10)),
    ),
)
