"""What controllers by bounds of the link rate guarantee on a link without jitter, with a buffer of any size.

Beliefs become true and converge, the queue drains, the link is used, and losses are small. No constant is chosen by an
author. C_L may rise by single packets, so C_U converges first. A busy link reveals C at once. So if C_L is lower,
either the link is not filled and C_L rises, or a timeout lowered C_L and raised C_U by half, to 3·C at most.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs.belief_parts import (
    LITTLE_INFLIGHT,
    LITTLE_LOSS,
    NO_LOSS,
    UTILISES,
    constant,
    inflight,
    kept,
    of_belief,
    of_queue,
    progresses_at_all,
    smallest,
)
from ccmatic.proofs.link_rate import crossed, known_above, near, short_queue, true
from ccmatic.properties.performance import loses_at_most

from ccmatic.contracts import Lemma, Proof, State
from ccmatic.logic import every, no

RISES = of_belief("C_U", "rise", falls=False)
RAISED = replace(RISES, limit=lambda x: 3 * x.C, limit_says="3·C")
CLIMBS = of_belief("C_L", "climb", falls=False, unit=lambda x: x.alpha, unit_says="MSS/R_m")
DRAINS = of_queue("queue", lambda x, t: x.queue(t), unit=lambda x: x.alpha, unit_says="MSS")

#: The smallest rise of the beliefs, for lemmas that precede its constants in the search.
SOME = {"rise": Fraction(101, 100), "climb": Fraction(1, 100)}

LAST = ("C_L low", "queue long", "steady")
EMPTY = State(
    "beliefs empty",
    "C_L > C_U",
    holds=lambda x, t, c: crossed(x, t),
    leads_to=("C_L too high", "C_U too low", "C_U high", *LAST),
)
HIGH = State(
    "C_L too high",
    "C < C_L ≤ C_U",
    holds=lambda x, t, c: every(x.beliefs["C_L"][t] > x.C, no(crossed(x, t))),
    leads_to=("C_U high", *LAST),
    unless=(UTILISES,),
)
UNDER = State(
    "C_U too low",
    "C_L ≤ C_U < C",
    holds=lambda x, t, c: every(x.beliefs["C_U"][t] < x.C, no(crossed(x, t))),
    leads_to=("C_U high", *LAST),
    measures=(RISES, CLIMBS),
    ordered=True,
)
OVER = State(
    "C_U high",
    "C_L ≤ C, C_U > {C_U_most}·C",
    holds=lambda x, t, c: every(true(x, t), no(known_above(x, t, c))),
    leads_to=LAST,
    measures=(CLIMBS,),
    unless=(UTILISES,),
    ensures=(LITTLE_LOSS,),
)
LOW = State(
    "C_L low",
    "C_L < {C_L_least}·C, C ≤ C_U ≤ {C_U_most}·C",
    holds=lambda x, t, c: every(known_above(x, t, c), no(near(x, t, c))),
    leads_to=LAST[1:],
    measures=(RAISED, CLIMBS),
    ordered=True,
    ensures=(LITTLE_LOSS,),
)
LONG = State(
    "queue long",
    "{C_L_least}·C ≤ C_L ≤ C and C ≤ C_U ≤ {C_U_most}·C, the queue is longer than {queue}·C·R_m",
    holds=lambda x, t, c: every(near(x, t, c), no(short_queue(x, t, c))),
    leads_to=LAST[2:],
    measures=(DRAINS,),
    ensures=(UTILISES, LITTLE_LOSS),
)
STEADY = State(
    "steady",
    "{C_L_least}·C ≤ C_L ≤ C and C ≤ C_U ≤ {C_U_most}·C, the queue is at most {queue}·C·R_m",
    holds=lambda x, t, c: every(near(x, t, c), short_queue(x, t, c)),
    ensures=(UTILISES, LITTLE_INFLIGHT, NO_LOSS, LITTLE_LOSS),
)

PROOF = Proof(
    model="ideal",
    buffer="any",
    jitter=0,
    horizon=8,
    beliefs=("C_L", "C_U"),
    states=(EMPTY, HIGH, UNDER, OVER, LOW, LONG, STEADY),
    constants=(
        smallest("loss", "packets lost in an R_m while beliefs are true, at most", 0, 10, "1/4"),
        smallest("C_U_most", "C_U of converged beliefs, at most, in C", 1, 6, "1/4"),
        constant("C_L_least", "C_L of converged beliefs, at least, in C", "1/20", 1),
        smallest("queue", "queue in the steady state, at most, in C·R_m", 0, 5),
        constant("utilisation", "share of C(T - D) delivered once converged, at least", "1/10", 1),
        inflight(10),
        smallest("lossless_buffer", "buffer from which nothing is lost in the steady state, in C·R_m", 0, 10),
        constant("drain", "by how much the queue falls in a window until then, in MSS", "1/4", 10, "1/4"),
        constant("rise", "factor by which C_U rises while it is too low, or C_L low and not rising", "101/100", 3),
        constant("climb", "by how much C_L rises in a window else, until converged, in MSS/R_m", "1/100", 5),
    ),
    lemmas=(
        kept("C_U stays converged", known_above),
        kept("converged beliefs stay so", near),
        progresses_at_all(LOW, **SOME),
        replace(progresses_at_all(LOW, climb=SOME["climb"]), name="C_L low: C_U rises, or C_L at all"),
        progresses_at_all(UNDER, climb=SOME["climb"]),
        Lemma("true beliefs lose little", lambda x, c: true(x, 0), lambda x, c: loses_at_most(x, c["loss"])),
    ),
    formerly=(
        "461c69b39d6e148969bfe9a10260f64ed473f43e2ed8da447158bb6410ae2d2c",
        "532258283a4f55b79aeb3c4e556043285283cbdd5279adff812df42cd531105d",
        "10a7e4cbdd141f14beea7b682ce6273de0d76a695d75e118fe35c4df5a79faa0",
    ),
)
