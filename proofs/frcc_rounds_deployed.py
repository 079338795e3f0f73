"""FRCC's lemmas about one round with the update that its kernel module and the controller `frcc` use.

This update multiplies a window by (R_m + θ·N_C)/(R_m + θ·N_T), which is closer to 1 than the published lemmas' N_C/N_T.
The bounds on the estimate are those of the script (`error_bounds_stable`), which states no lemma about them. While N_T
is below 3/4, every share may fall in a round.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs import frcc_rounds
from ccmatic.proofs.frcc_rounds import CLAMPED, ERROR, GAMMA, GAMMA_R, flows, share_is_good, share_is_kept

from ccmatic.contracts import Lemma
from ccmatic.logic import every, some, times

#: The least N_T for which a share stays.
FROM = Fraction(3, 4)


def estimates(x):
    """Yield the bounds on each flow's growth, as in frcc_rounds."""
    low, high = CLAMPED
    target, rtt = x["target"], x["target"] + x["R_m"]
    for share, growth in flows(x):
        yield every(growth >= low, growth <= high)

        def by_probe(error, share=share, growth=growth):
            probe = GAMMA * GAMMA_R * times(target + error, share) + 1
            least = times(x["R_m"], probe) + GAMMA * (target + error)
            return times(times(growth, rtt + error), probe) >= least

        by_floor = times(growth, rtt + ERROR) >= x["R_m"] + 1
        yield some(growth >= high, every(by_floor, some(by_probe(0), by_probe(ERROR))))
        beyond = GAMMA * times(target, share) - 1
        most = times(x["R_m"], beyond) + GAMMA * target
        yield some(growth <= low, beyond <= 0, times(times(growth, rtt), beyond) <= most)


def laws(x):
    """Yield the laws of a round."""
    yield from frcc_rounds.network(x)
    yield from estimates(x)


def stays(name, given, **shares):
    """Return a lemma for comparison only: that fixed shares stay."""
    return Lemma(
        name,
        lambda x, c: every(share_is_good(x, shares), given(x)),
        lambda x, c: share_is_kept(x, shares),
        name,
        paper=True,
    )


def target_is_large(x):
    return x["target"] >= FROM


_CONSTANTS = {each.name: each for each in frcc_rounds.PROOF.constants}

PROOF = replace(
    frcc_rounds.PROOF,
    laws=laws,
    constants=(
        replace(_CONSTANTS["share"], at=Fraction(1, 20), paper="–"),
        replace(_CONSTANTS["low"], at=Fraction(3, 20), paper="–"),
        replace(_CONSTANTS["high"], at=Fraction(33, 10), joined=False, paper="–"),
        *(replace(_CONSTANTS[name], paper="–") for name in ("pace", "top", "bottom")),
    ),
    lemmas=(
        Lemma(
            "shares stay",
            lambda x, c: every(share_is_good(x, c), target_is_large(x)),
            share_is_kept,
            f"while N_T is at least {FROM}, shares of at least {{share}} stay at least {{share}}",
        ),
        stays("shares of 12 % stay", target_is_large, share=Fraction(3, 25)),
        stays("shares of 1 % stay, whatever N_T is", lambda x: True, share=Fraction(1, 100)),
        *(each for each in frcc_rounds.PROOF.lemmas if each.name not in ("shares stay", "progress")),
    ),
)
