"""What controllers by bounds of the link rate guarantee on CCAC, for any such controller.

Beliefs become true and converge, the link is used, and the queue drains. No constant is chosen by an author. The search
first finds C_U of converged beliefs. A timeout may raise C_U by half if it is at most 2·C_L, so to 3·C for any sender.
Then the search bounds the sending rate at such beliefs, then C_L.

The paper's initial state "beliefs inconsistent" is three states here. In one, the beliefs are empty, and one window
ends it. In the others, only C_L or only C_U is on the wrong side of C. So each state has one kind of progress.

The rate may vary between C and `most`·C, as in models/varying.py. Then C_L is true up to `most`·C.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs.belief_parts import (
    LITTLE_INFLIGHT,
    NO_LOSS,
    UTILISES,
    constant,
    inflight,
    kept,
    of_belief,
    of_queue,
    smallest,
    with_values,
)
from ccmatic.properties.performance import bdp

from ccmatic.contracts import Lemma, Proof, State
from ccmatic.logic import every, implies, no


def true(x, t, most=1):
    """C lies within the beliefs."""
    return every(x.beliefs["C_L"][t] <= most * x.C, x.beliefs["C_U"][t] >= x.C)


def crossed(x, t):
    """The beliefs admit no link rate, because the rate changed during their measurement."""
    return x.beliefs["C_L"][t] > x.beliefs["C_U"][t]


def known_above(x, t, c):
    """The beliefs are true, and C_U has converged."""
    return every(true(x, t), x.beliefs["C_U"][t] <= c["C_U_most"] * x.C)


def near(x, t, c, most=1):
    """The beliefs are true and have converged."""
    low, high = x.beliefs["C_L"][t] >= c["C_L_least"] * x.C, x.beliefs["C_U"][t] <= c["C_U_most"] * x.C
    return every(true(x, t, most), low, high)


def remembers(x, t, sent=2):
    """Since the last served byte was sent, bytes were sent at `sent`·C at most."""
    delays = range(1, x.horizon - 1 - x.D)
    return every([implies(no(x.Q.at_least(t, k)), x.inflight(t) <= sent * x.C * (k + x.D)) for k in delays])


def sent_by_constant(x, t, c):
    """The bytes in flight were sent at the constant `sent`, in C, at most."""
    return remembers(x, t, c["sent"])


def short_queue(x, t, c):
    """The bottleneck's queue is at most the constant `queue`, in C(R_m + D)."""
    return x.queue(t) <= c["queue"] * bdp(x)


C_L = of_belief("C_L", "shrink", falls=False, after=lambda f, c: f / c["C_L_least"])
C_U = of_belief("C_U", "shrink", after=lambda f, c: f * c["C_U_most"])
QUEUE = of_queue("queue", lambda x, t: x.queue(t))
RISING = (replace(C_U, by="rise", falls=False, after=lambda f, c: f), replace(C_L, by="rise"))


def states(remembers, finite=False, most=1, empty=crossed, C_L=C_L, C_U=C_U, rising=RISING, queue=QUEUE):
    """Return the six states in order.

    Args:
        remembers: The condition on bytes in flight once beliefs have converged, such as `sent_by_constant`.
        finite: Whether the buffer is finite.
        most: The ratio of the highest link rate to C.
        empty: The condition that the beliefs are empty.
        C_L: The Measure of C_L.
        C_U: The Measure of C_U.
        rising: The Measures while C_U is too low.
        queue: The Measure of the queue.
    """
    limit = "C" if most == 1 else f"{float(most):g}·C"
    narrow = f"{{C_L_least}}·C ≤ C_L ≤ {limit} and C ≤ C_U ≤ {{C_U_most}}·C"
    final = ("beliefs true", "converged", "steady")

    return (
        State(
            "beliefs empty",
            f"C_L > C_U{f', and not both C_L ≤ {limit} and C ≤ C_U' if empty is not crossed else ''}",
            holds=lambda x, t, c: empty(x, t),
            leads_to=("C_L too high", "C_U too low", *final),
        ),
        State(
            "C_L too high",
            f"{limit} < C_L ≤ C_U",
            holds=lambda x, t, c: every(x.beliefs["C_L"][t] > most * x.C, no(crossed(x, t))),
            leads_to=final,
            measures=(replace(C_U, by="fall"),),
            unless=(UTILISES,),
        ),
        State(
            "C_U too low",
            "C_L ≤ C_U < C",
            holds=lambda x, t, c: every(x.beliefs["C_U"][t] < x.C, no(crossed(x, t))),
            leads_to=final,
            measures=rising,
        ),
        State(
            "beliefs true",
            f"C_L ≤ {limit} and C ≤ C_U, not converged",
            holds=lambda x, t, c: every(true(x, t, most), no(every(near(x, t, c, most), remembers(x, t, c)))),
            leads_to=final[1:],
            measures=(C_L, C_U),
            unless=(UTILISES,),
        ),
        State(
            "converged",
            f"{narrow}, the queue is longer than {{queue}}·C(R_m + D)",
            holds=lambda x, t, c: every(near(x, t, c, most), remembers(x, t, c), no(short_queue(x, t, c))),
            leads_to=final[2:],
            measures=(queue,),
            ensures=(UTILISES,),
        ),
        State(
            "steady",
            f"{narrow}, the queue is at most {{queue}}·C(R_m + D)",
            holds=lambda x, t, c: every(near(x, t, c, most), remembers(x, t, c), short_queue(x, t, c)),
            ensures=(UTILISES, LITTLE_INFLIGHT, *((NO_LOSS,) if finite else ())),
        ),
    )


def constants(finite=False, **chosen):
    """Return the constants of these states with their ranges. `chosen` overrides fields by the constant's name."""
    buffer = "buffer from which nothing is lost in the steady state, in C(R_m + D)"
    declared = (
        smallest("C_U_most", "C_U of converged beliefs, at most, in C", 1, 6, "1/100"),
        constant("C_L_least", "C_L of converged beliefs, at least, in C", "1/20", 1),
        smallest("queue", "queue in the steady state, at most, in C(R_m + D)", 0, 8),
        constant("utilisation", "share of C(T - D) delivered, at least", "1/10", 1),
        inflight(10),
        *((smallest("lossless_buffer", buffer, 3, 10),) if finite else ()),
        constant("drain", "queue drained in a window before the steady state, in C·R_m", "1/20", 8, "1/20"),
        constant("fall", "factor by which C_U falls while C_L is too high", "101/100", 5, "1/20"),
        constant("rise", "factor by which C_L or C_U rises while C_U is too low", "101/100", 3),
        constant("shrink", "factor by which a true bound moves until converged", "101/100", 4, "1/20"),
    )
    return with_values(declared, **chosen)


def converged_stay(remembers, most=1):
    """Return the Lemma that converged beliefs stay converged. The constants of the lemma do not depend on the queue."""
    return kept("converged beliefs stay so", lambda x, t, c: every(near(x, t, c, most), remembers(x, t, c)))


def on(buffer, horizon=11):
    """Return the shape for a buffer, given as in queries."""
    finite = buffer != "infinite"
    high, *others = constants(finite, C_U_most={"step": Fraction(1, 4)})
    return Proof(
        model="ccac",
        buffer=buffer,
        horizon=horizon,
        beliefs=("C_L", "C_U"),
        states=states(sent_by_constant, finite),
        constants=(
            high,
            smallest("sent", "sent in a step, at most, once C_U has converged, in C", 1, 8, "1/4"),
            *others,
        ),
        lemmas=(
            kept("C_U stays converged", known_above),
            Lemma(
                "what is inflight was sent at little",
                lambda x, c: known_above(x, 0, c),
                lambda x, c: sent_by_constant(x, x.horizon - 1, c),
            ),
            converged_stay(sent_by_constant),
        ),
    )


PROOF = replace(
    on("infinite"),
    formerly=(
        "ba5e8340606aed69da03f387c6032f69b840c2b4851355befe3dd276adffb1e2",
        "61f4bce968edebfa90ea152150415d5f6deee83b7e49edabcf662c81fd16623a",
        "e9cccc90ac4dcec84fd45e6698c3257f824fac7e31491af927c75ed966a852e5",
        "ca2d2801e620b0f5960950dc04a645421fec3b369be41c713402f541a3533dd0",
        "0cc2aa00841294cc9a41759e18cb17ebbad44d210b583cf0cae32d663c1faf43",
    ),
)
