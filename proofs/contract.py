"""How two senders with a contract share a link for ever: each has jitter of its own, and starts with any queue.

The lemma "rates are close" states that each flow sends at least `pace` times the bytes that the other flow sent D
before. So A_2(t) - pace·A_1(t-D) never falls (`Deduction.sum_of`). The link is first in, first out. Let u be the last
step whose bytes the link has let through by the step s. Then the link has let through at least the bytes that each flow
sent by u, and at most the bytes that each flow sent by u+1. Jitter delays these bytes by at most D. Therefore the
service of one flow is at least `pace` times the service of the other flow, minus a constant. The lemma "the link is
used" bounds the time after which this constant hardly matters.

The function `shares` states this argument as a deduction. `ccmatic check` decides each of its steps in exact
arithmetic.
"""

from fractions import Fraction
from math import ceil

from ccmatic.contracts import Constant, Corollary, Lemma, Proof, State
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
    return arrived(x, t) - let_through(x, t)


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


def arrived(x, t):
    """Return the bytes that both flows have sent by t."""
    return x.admitted(t)


def let_through(x, t):
    """Return the bytes of both flows that the link has let through by t."""
    return sum(x.own[f"K{flow.number}"][t] for flow in x.flows)


def ahead(one, other, pace):
    """Return a function: the bytes that `one` has sent, minus `pace` times the bytes that `other` had sent D before."""
    return lambda x, t: x.flows[one].A[t] - pace * x.flows[other].A[t - x.D]


def served(x):
    """Return the bytes of each flow that are served by the end of a window."""
    return [flow.S[x.horizon - 1] for flow in x.flows]


def shares(c, share, steps):
    """Return the deduction that each flow gets at least `share` of the bytes served in `steps` R_m."""

    def derive(d):
        rates = [d.sum_of(ahead(one, 1 - one, c["pace"])) for one in (0, 1)]
        begin = d.begin(d.sum_of(arrived), d.sum_of(let_through))
        end = begin + steps
        d.grows(d.sum_of(let_through, SPAN * c["utilisation"], SPAN), begin, (steps - d.jitter) // SPAN)
        first, last = d.crossing("first", begin), d.crossing("last", end)
        d.relate(first, begin)
        d.relate(last, end)
        d.relate(first, last, *rates)
        for instant in (first + 1, *(last + 1 - back for back in range(d.jitter + 1))):
            d.lemmas(instant)
        before, after = (served(d.laws(instant, 2 * d.jitter + 2)) for instant in (begin, end))
        gained = [now - then for then, now in zip(before, after, strict=True)]
        return [each >= share * sum(gained) for each in gained]

    return derive


def falls(d):
    """Return the deduction that a long queue falls. The lemma about the queue holds in each window."""
    x = d.lemmas(d.begin(d.sum_of(arrived), d.sum_of(let_through)))
    return [queue_falls(x, d.values)]


def follows(c, horizon, jitter):
    """Yield the corollaries: the queue, and each share with the time over which it holds."""
    pace, utilisation = c["pace"], c["utilisation"]
    apart = pace * (jitter + 1) * c["most"] + 2 * jitter
    begin = f"once the link has let through all bytes that were sent in the first {horizon - 1} R_m"
    queue = f"A queue of more than {float(c['queue']):g}·C·R_m falls by at least {FALL}·C·R_m in each R_m"
    yield Corollary(f"{queue}, {begin}.", falls)
    for share in SHARES:
        rest = pace - share * (1 + pace)
        if rest > 0:
            steps = SPAN * ceil(apart / rest / (SPAN * utilisation)) + jitter
            says = f"Over every {steps} R_m, each flow gets at least {share} of the bytes served, {begin}."
            yield Corollary(says, shares(c, share, steps))


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
    formerly=(
        "fda65b3840f6abb2dc6aa72f9cf274d4a61052dfe6aa7b71e77c7de9ac343247",
        "d5ba483c67fd09cc5b6216c2ef73b01782f298a5bf20e2598d4a17b8e77c5e16",
    ),
)
