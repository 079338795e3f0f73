"""How two senders with a contract share a link for ever: each has jitter of its own, and starts with any queue.

Write a_n(t) for the bytes that flow n sends in step t, A_n for their sum, K_n for the bytes that the link lets through
to the jitter box of flow n, and S_n for the bytes served. A letter without an index is the sum over both flows. A step
is one R_m.

The lemma "rates are close" states a_n(t) ≥ p·a_m(t-D) for both orders of the flows. It follows for all time that the
service of the flows is close. Let s < t, and let u and v be the last steps whose bytes the link let through by s and t:
A(u) ≤ K(s) < A(u+1) and A(v) ≤ K(t) < A(v+1). The link is first in, first out, so A_n(u) ≤ K_n(s) ≤ A_n(u+1), and the
same is true of v and t. The lemma "steps are small" states a_n(t) ≤ r. If u < v, then

    K_2(t) - K_2(s) ≥ A_2(v) - A_2(u+1) ≥ p·(A_1(v-D) - A_1(u+1-D))     by the lemma, step by step
                    ≥ p·(A_1(v+1) - A_1(u) - (D+1)·r) ≥ p·(K_1(t) - K_1(s)) - p·(D+1)·r.

If u = v, then K_1(t) - K_1(s) ≤ r, so the inequality is true, too. A jitter box holds a byte for at most D, and the
link lets through at most C·D in this time. Therefore, with B = p·(D+1)·r + 2·C·D,

    S_2(t) - S_2(s) ≥ p·(S_1(t) - S_1(s)) - B.

So a flow gets at least the share x of the bytes served from s to t once these are B/(p - x·(1+p)) or more, for each
x < p/(1+p). The lemma "the link is used" bounds the time that this takes. The argument needs the lemma for the bytes
served since s - D, so it begins D after the link has let through all bytes that were sent in the first window.
"""

from fractions import Fraction
from math import ceil

from ccmatic.contracts import Constant, Lemma, Proof, State
from ccmatic.logic import every, some

#: Packets, in C·R_m, for which the proof holds: a link of 5/2 to 30 packets per R_m.
LEAST, MOST = Fraction(1, 30), Fraction(2, 5)

#: The steps over which the proof measures utilisation.
SPAN = 8

#: The fall of a long queue per step, in C·R_m: 1 - 2·MOST.
FALL = Fraction(1, 5)

#: The shares for which the claim states a time.
SHARES = (Fraction(1, 5), Fraction(1, 4), Fraction(3, 10))


def sent(flow, t):
    """Return the bytes that a flow sends in step t."""
    return flow.A[t] - flow.A[t - 1]


def queue(x, t):
    """Return the bytes that wait for the link."""
    return x.admitted(t) - sum(x.own[f"K{flow.number}"][t] for flow in x.flows)


def given(x, c):
    """The packets have a size of the proof's range, and no loss is undetected: an infinite buffer loses no byte."""
    known = [flow.L[0] <= flow.Ld[0] for flow in x.flows]
    return every(x.alpha >= LEAST * x.C * x.R, x.alpha <= MOST * x.C * x.R, known)


def rates_are_close(x, c):
    """In the last step, each flow sends at least `pace` times what the other flow sent D before."""
    last = x.horizon - 1
    pairs = [(one, other) for one in x.flows for other in x.flows if one is not other]
    return every([sent(one, last) >= c["pace"] * sent(other, last - x.D) for one, other in pairs])


def steps_are_small(x, c):
    """In the last step, no flow sends more than `most`."""
    last = x.horizon - 1
    return every([sent(flow, last) <= c["most"] * x.C for flow in x.flows])


def link_is_used(x, c):
    """The link wastes few of the tokens of the last steps."""
    last, wasted = x.horizon - 1, x.own["W"]
    return wasted[last] - wasted[last - SPAN] <= (1 - c["utilisation"]) * SPAN * x.C


def queue_falls(x, c):
    """The queue ends within its bound, or falls in the last step."""
    last = x.horizon - 1
    return some(queue(x, last) <= c["queue"] * x.C, queue(x, last) <= queue(x, last - 1) - FALL * x.C)


def follows(c, horizon, jitter):
    """Yield the claim about the shares, with the time over which it holds (see the top of this file)."""
    pace, utilisation = c["pace"], c["utilisation"]
    apart = pace * (jitter + 1) * c["most"] + 2 * jitter
    yield f"A queue of more than {float(c['queue']):g}·C·R_m falls by at least {FALL}·C·R_m in each R_m."
    for share in SHARES:
        rest = pace - share * (1 + pace)
        if rest > 0:
            steps = SPAN * ceil(apart / rest / (SPAN * utilisation)) + jitter
            yield f"Over every {steps} R_m, each flow gets at least {share} of the bytes served."
    first = f"the link has let through all bytes that were sent in the first {horizon - 1} R_m"
    yield f"These shares hold for ever, from any start, from {jitter} R_m after {first}."


PROOF = Proof(
    model="cbr_delay_own_jitter",
    buffer="infinite",
    beliefs=(),
    horizon=20,
    common=10,
    states=(State("any", "without conditions", holds=lambda x, t, c: True),),
    constants=(
        Constant(
            "most",
            "what a flow sends in an R_m, at most, in C·R_m",
            Fraction(2, 5),
            Fraction(16),
            Fraction(2, 5),
            better="smaller",
        ),
        Constant(
            "pace",
            "what a flow sends, at least, in parts of what the other flow sent D before",
            Fraction(1, 4),
            Fraction(1),
            Fraction(1, 20),
        ),
        Constant(
            "utilisation", "part of the link used in eight R_m, at least", Fraction(1, 2), Fraction(1), Fraction(1, 8)
        ),
        Constant(
            "queue",
            "bytes that wait once the queue is short, at most, in C·R_m",
            Fraction(32),
            Fraction(64),
            Fraction(4),
            better="smaller",
        ),
    ),
    lemmas=(
        Lemma("steps are small", given, steps_are_small, "no flow sends more than {most}·C·R_m in an R_m"),
        Lemma(
            "rates are close",
            given,
            rates_are_close,
            "each flow sends at least {pace} of what the other flow sent D before",
        ),
        Lemma("the link is used", given, link_is_used, "the last eight R_m use at least {utilisation} of the link"),
        Lemma("the queue falls", given, queue_falls, "the queue is at most {queue}·C·R_m, or falls"),
    ),
    follows=follows,
    formerly=("fda65b3840f6abb2dc6aa72f9cf274d4a61052dfe6aa7b71e77c7de9ac343247",),
)
