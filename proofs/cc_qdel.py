"""cc_qdel on CCAC with a buffer of at least 3C(R_m + D): the paper's proof in Appendix F, and where it differs.

The states are those of proofs/link_rate.py. Their condition `remembers` is not in the paper. A delay that is measured
late says little about the queue, unless the bytes sent before are bounded; here they were sent at 2C at most.
"""

from fractions import Fraction

from ccmatic.proofs.link_rate import constants, converged_stay, near, remembers, states, true
from ccmatic.properties.performance import bdp, inflight_within, loses_at_most, utilises

from ccmatic.contracts import Lemma, Proof
from ccmatic.logic import every, no, some


def sent_twice(x, t, c):
    """The bytes in flight were sent at 2C at most."""
    return remembers(x, t)


def large_loss(x):
    """Some R_m loses more than three packets."""
    return no(loses_at_most(x, 3))


def paper_near(x, t):
    """The beliefs have converged, with the constants of Lemma F.3."""
    return near(x, t, {"C_L_least": Fraction(27, 40), "C_U_most": 3})


def paper_steady(x, t):
    """The state is steady, with the constants of Lemma F.5."""
    return every(paper_near(x, t), x.queue(t) <= Fraction(33, 10) * bdp(x))


PAPERS = (
    Lemma("F.1: true beliefs stay true", lambda x, c: true(x, 0), lambda x, c: true(x, x.horizon - 1), paper=True),
    Lemma("F.3: 27/40 and 3", lambda x, c: paper_near(x, 0), lambda x, c: paper_near(x, x.horizon - 1), paper=True),
    Lemma(
        "F.5: queue of 3.3",
        lambda x, c: paper_steady(x, 0),
        lambda x, c: paper_steady(x, x.horizon - 1),
        paper=True,
    ),
    Lemma(
        "F.6: drains by C·R_m/2",
        lambda x, c: every(paper_near(x, 0), no(paper_steady(x, 0))),
        lambda x, c: every(
            paper_near(x, x.horizon - 1),
            some(paper_steady(x, x.horizon - 1), x.queue(x.horizon - 1) < x.queue(0) - x.C / 2),
        ),
        paper=True,
    ),
    *(
        Lemma(
            f"F.7: utilisation {share}",
            lambda x, c: paper_steady(x, 0),
            lambda x, c, share=share: utilises(x, share),
            paper=True,
        )
        for share in (Fraction(83, 100), Fraction(89, 100))
    ),
    Lemma(
        "F.7: inflight 4.4",
        lambda x, c: paper_steady(x, 0),
        lambda x, c: inflight_within(x, Fraction(44, 10)),
        paper=True,
    ),
    Lemma("F.7: at most 3 packets lost", lambda x, c: paper_steady(x, 0), lambda x, c: loses_at_most(x, 3), paper=True),
    Lemma(
        "F.8: no large loss as the rate rises",
        lambda x, c: every(true(x, 0), x.r[x.horizon - 1] > x.r[0]),
        lambda x, c: no(large_loss(x)),
        paper=True,
    ),
)

CONSTANTS = constants(
    finite=True,
    C_U_most={
        "at": Fraction(3),
        "front": (Fraction(3, 2), Fraction(2), Fraction(5, 2), Fraction(4)),
        "paper": "3",
    },
    C_L_least={"low": Fraction(1, 2), "step": Fraction(1, 200), "paper": "27/40"},
    queue={"paper": "3.3"},
    utilisation={"low": Fraction(1, 2), "paper": "0.89, 0.83"},
    inflight={"paper": "4.4"},
    lossless_buffer={"paper": "3, up to 3 packets lost"},
    drain={"paper": "1/2"},
    fall={"paper": "1.1"},
    rise={"paper": "1.1"},
    shrink={"paper": "1.7"},
)

PROOF = Proof(
    model="ccac",
    buffer=">=6",
    beliefs=("C_L", "C_U"),
    states=states(sent_twice, finite=True),
    constants=CONSTANTS,
    lemmas=(converged_stay(sent_twice), *PAPERS),
    formerly=(
        "bedb060b9d7da98ab93fc558c4fd69d441905573bf031678518ad03bbe01fb40",
        "5071ce34bebd64d10bc5a06067c10cb54d02b0739fe90e22d7a0be94c3bdf5a1",
    ),
)
