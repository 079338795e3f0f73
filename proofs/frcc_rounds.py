"""FRCC's lemmas about one round of two flows: a share of at least 15 % stays, and the delay finds its range.

A. Agarwal et al., "Towards Fair and Robust Congestion Control", NSDI 2026, Appendix B, and the script
proofs/phase_jittery_link.py of the repository 108anup/frcc. In the script a round changes N_C of each flow, which is
one over the flow's share. Here it changes the share, so that each law is a polynomial, and solvers answer in less than
a second.

θ is the unit of time, R_m < 2·θ, ΔR = θ/2, γ = 4, and the error of a rate is at most a factor of γ_R = 2. In a round,
each flow multiplies its window by its estimate of N_C/N_T, clamped to the range from δ_L to δ_H. The laws bound the
estimate. The kernel module uses (R_m + θ·N_C)/(R_m + θ·N_T) in place of N_C/N_T: see proofs/frcc_rounds_deployed.py.
"""

from fractions import Fraction

from ccmatic.contracts import Constant, Lemma, RoundProof
from ccmatic.logic import every, implies, no, some, times

GAMMA, GAMMA_R, ERROR = 4, 2, Fraction(1, 2)
CLAMPED = Fraction(4, 5), Fraction(13, 10)  # δ_L and δ_H

#: The range around N = 2 in which the target need not approach N.
NEAR = Fraction(9, 5), Fraction(11, 5)

NUMBERS = {
    "share": "the first flow's share of the link, which is 1/N_C",
    "target": "N_T: the delay in θ",
    "R_m": "R_m in θ",
    "growth": "the factor by which the first flow changes its window",
    "other_growth": "the factor by which the second flow changes its window",
}


def flows(x):
    """Return the share and the growth of each flow."""
    return (x["share"], x["growth"]), (1 - x["share"], x["other_growth"])


def grown(x):
    """Return the factor by which the windows of both flows together change, and so does the RTT."""
    return sum(times(share, growth) for share, growth in flows(x))


def target_after(x):
    """Return N_T one round later."""
    return times(x["target"] + x["R_m"], grown(x)) - x["R_m"]


def network(x):
    """Yield the ranges of the numbers."""
    yield every(x["share"] > 0, x["share"] < 1, x["target"] > 0, x["R_m"] > 0, x["R_m"] < 2)


def estimates(x):
    """Yield the bounds on each flow's growth: its estimate of N_C/N_T, or a clamp beyond which the estimate lies."""
    low, high = CLAMPED
    highest = x["target"] + ERROR
    for share, growth in flows(x):
        yield every(growth >= low, growth <= high)
        by_floor = times(growth, highest) >= 1
        by_probe = times(growth, GAMMA * GAMMA_R * times(highest, share) + 1) >= GAMMA
        yield some(growth >= high, every(by_floor, by_probe))
        beyond = GAMMA * times(x["target"], share) - 1
        yield some(growth <= low, beyond <= 0, times(growth, beyond) <= GAMMA)


def laws(x):
    """Yield the laws of a round."""
    yield from network(x)
    yield from estimates(x)


def shares(x):
    """Return each flow's share, and its share one round later times `grown`."""
    return [(share, times(share, growth)) for share, growth in flows(x)]


def share_is_kept(x, c):
    return every([after >= c["share"] * grown(x) for _, after in shares(x)])


def share_is_good(x, c):
    return every([share >= c["share"] for share, _ in shares(x)])


def within(target, c):
    return every(target >= c["low"], target <= c["high"])


def target_is_good(x, c):
    return within(x["target"], c)


def target_is_kept(x, c):
    return within(target_after(x), c)


def target_is_low(x, c):
    return target_after(x) <= c["high"]


def target_is_high(x, c):
    return target_after(x) >= c["low"]


def target_falls(x, c):
    after = target_after(x)
    return every(some(c["pace"] * after <= x["target"], after <= c["top"]), after >= c["low"])


def target_rises(x, c):
    after = target_after(x)
    return every(some(after > c["pace"] * x["target"], after >= c["bottom"]), after <= c["high"])


def share_improves(x, c):
    """A flow with a share below the bound gets more, by the speed or up to the bound, and not too much."""
    total = grown(x)
    return some(
        [
            every(
                share < c["share"],
                after <= (1 - c["share"]) * total,
                some(after >= c["speed"] * times(share, total), after >= c["share"] * total),
            )
            for share, after in shares(x)
        ]
    )


def target_improves(x, c):
    """The target approaches N = 2, by the speed or up to the range NEAR, and not past this range."""
    (low, high), before, after = NEAR, x["target"], target_after(x)
    return some(
        every(before > high, after >= low, some(c["speed"] * after <= before, after <= high)),
        every(before < low, after <= high, some(after >= c["speed"] * before, after >= low)),
    )


def nothing_degrades(x, c):
    total, before, after = grown(x), x["target"], target_after(x)
    kept = [implies(share < c["share"], later >= times(share, total)) for share, later in shares(x)]
    return every(kept, implies(before < c["low"], after >= before), implies(before > c["high"], after <= before))


def progresses(x, c):
    arrived = every(share_is_kept(x, c), target_is_kept(x, c))
    return some(arrived, every(some(share_improves(x, c), target_improves(x, c)), nothing_degrades(x, c)))


def always(x, c):
    return True


def constant(name, says, low, high, step, better="larger", **more):
    return Constant(name, says, Fraction(low), Fraction(high), Fraction(step), better, **more)


PROOF = RoundProof(
    controller="frcc",
    numbers=NUMBERS,
    laws=laws,
    constants=(
        constant("share", "a share of each flow that stays", "1/20", "1/2", "1/1000", paper="1/6.6"),
        constant("low", "the lower end of the range of N_T", "1/20", 1, "1/100", paper="0.15"),
        constant("high", "the upper end of the range of N_T", 3, 5, "1/100", "smaller", paper="3.3", joined=True),
        constant("speed", "the factor of progress in a round", "1001/1000", "6/5", "1/1000", paper="1.01"),
        constant(
            "pace", "the factor by which N_T at least returns from afar", 1, 2, 1, paper="1.01", at=Fraction(101, 100)
        ),
        constant("top", "N_T above which N_T falls", 2, 4, "1/100", "smaller", paper="2.66"),
        constant("bottom", "N_T below which N_T rises", "1/10", 2, "1/100", paper="0.45"),
    ),
    lemmas=(
        Lemma("shares stay", share_is_good, share_is_kept, "shares of at least {share} stay at least {share}"),
        Lemma(
            "the target stays low", target_is_good, target_is_low, "N_T between {low} and {high} stays at most {high}"
        ),
        Lemma(
            "the target stays high", target_is_good, target_is_high, "N_T between {low} and {high} stays at least {low}"
        ),
        Lemma(
            "progress",
            lambda x, c: no(every(share_is_good(x, c), target_is_good(x, c))),
            progresses,
            "outside these ranges, the shares or N_T improve by the factor {speed}, and neither degrades",
        ),
        Lemma(
            "a high target falls",
            lambda x, c: x["target"] > c["top"],
            target_falls,
            "N_T above {top} falls by the factor {pace}, or to {top}",
        ),
        Lemma(
            "a low target rises",
            lambda x, c: x["target"] < c["bottom"],
            target_rises,
            "N_T below {bottom} rises by the factor {pace}, or to {bottom}",
        ),
    ),
)
