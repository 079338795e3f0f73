"""What controllers by bounds of the link rate guarantee on CCAC: beliefs come to be true and converge, the link is
used, and the queue drains. No constant is chosen: this is for any controller.

C_U of converged beliefs is found first. A timeout may raise it by half where it is at most 2·C_L, so to 3·C, whoever
sends; then what is sent by who knows so much; then C_L. The beginning that the paper calls "beliefs inconsistent" is
three states: beliefs that are empty, which a window ends; and C_L or C_U alone on the wrong side of C, so that what
progress is, is one thing in each.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.properties.performance import bdp, inflight_within, loses_at_most, utilises

from ccmatic.contracts import Constant, Lemma, Measure, Objective, Proof, State
from ccmatic.logic import every, implies, no


def true(x, t):
    """C is where the beliefs say."""
    return every(x.beliefs["C_L"][t] <= x.C, x.beliefs["C_U"][t] >= x.C)


def crossed(x, t):
    """No link rate is where the beliefs say: it changed, as they were being measured."""
    return x.beliefs["C_L"][t] > x.beliefs["C_U"][t]


def known_above(x, t, c):
    """Beliefs are true, and C_U has converged."""
    return every(true(x, t), x.beliefs["C_U"][t] <= c["C_U_most"] * x.C)


def near(x, t, c):
    """Beliefs are true and have converged."""
    return every(true(x, t), x.beliefs["C_L"][t] >= c["C_L_least"] * x.C, x.beliefs["C_U"][t] <= c["C_U_most"] * x.C)


def remembers(x, t, sent=2):
    """What is inflight was sent at `sent`·C at most since the last byte served was."""
    delays = range(1, x.horizon - 1 - x.D)
    return every([implies(no(x.Q.at_least(t, k)), x.inflight(t) <= sent * x.C * (k + x.D)) for k in delays])


def short_queue(x, t, c):
    """The bottleneck's queue, in C(R_m + D)."""
    return x.queue(t) <= c["queue"] * bdp(x)


UTILISES = Objective(
    "uses the link", "at least {utilisation} of C(T - D) is delivered", lambda x, c: utilises(x, c["utilisation"])
)
LITTLE_INFLIGHT = Objective(
    "bounds inflight", "inflight is at most {inflight}·C(R_m + D)", lambda x, c: inflight_within(x, c["inflight"])
)
NO_LOSS = Objective(
    "loses nothing if the buffer is large",
    "nothing is lost if the buffer is at least {lossless_buffer}·C(R_m + D)",
    lambda x, c: implies(x.beta >= c["lossless_buffer"] * bdp(x), loses_at_most(x, 0)),
)

C_L = Measure(
    "C_L",
    lambda x, t: x.beliefs["C_L"][t],
    lambda x: x.C,
    "C",
    by="shrink",
    falls=False,
    after=lambda f, c: f / c["C_L_least"],
)
C_U = Measure(
    "C_U",
    lambda x, t: x.beliefs["C_U"][t],
    lambda x: x.C,
    "C",
    by="shrink",
    after=lambda f, c: f * c["C_U_most"],
)
QUEUE = Measure(
    "queue",
    lambda x, t: x.queue(t),
    lambda x: 0,
    "0",
    by="drain",
    unit=lambda x: x.C,
    unit_says="C·R_m",
)

CROSSED = State(
    "beliefs empty",
    "C_L > C_U",
    holds=lambda x, t, c: crossed(x, t),
    leads_to=("C_L too high", "C_U too low", "beliefs true", "converged", "steady"),
)
STALE_LOW = State(
    "C_L too high",
    "C < C_L ≤ C_U",
    holds=lambda x, t, c: every(x.beliefs["C_L"][t] > x.C, no(crossed(x, t))),
    leads_to=("beliefs true", "converged", "steady"),
    measures=(replace(C_U, by="fall"),),
    unless=(UTILISES,),
)
STALE_HIGH = State(
    "C_U too low",
    "C_L ≤ C_U < C",
    holds=lambda x, t, c: every(x.beliefs["C_U"][t] < x.C, no(crossed(x, t))),
    leads_to=("beliefs true", "converged", "steady"),
    measures=(replace(C_U, by="rise", falls=False, after=lambda f, c: f), replace(C_L, by="rise")),
)


def sent_by_constant(x, t, c):
    """What is inflight was sent at `sent`·C at most."""
    return remembers(x, t, c["sent"])


def final_states(remembers, finite):
    """Those in which beliefs are true. remembers: as in `sent_by_constant`. finite: whether the buffer is."""
    return (
        not_converged(remembers),
        State(
            "converged",
            "{C_L_least}·C ≤ C_L and C_U ≤ {C_U_most}·C, the queue longer than {queue}·C(R_m + D)",
            holds=lambda x, t, c: every(near(x, t, c), remembers(x, t, c), no(short_queue(x, t, c))),
            leads_to=("steady",),
            measures=(QUEUE,),
            ensures=(UTILISES,),
        ),
        State(
            "steady",
            "converged, the queue at most {queue}·C(R_m + D)",
            holds=lambda x, t, c: every(near(x, t, c), remembers(x, t, c), short_queue(x, t, c)),
            ensures=(UTILISES, LITTLE_INFLIGHT, *((NO_LOSS,) if finite else ())),
        ),
    )


def not_converged(remembers):
    """Beliefs are true."""

    def converged(x, t, c):
        return every(near(x, t, c), remembers(x, t, c))

    return State(
        "beliefs true",
        "C_L ≤ C ≤ C_U, not converged",
        holds=lambda x, t, c: every(true(x, t), no(converged(x, t, c))),
        leads_to=("converged", "steady"),
        measures=(C_L, C_U),
        unless=(UTILISES,),
    )


def constants(finite, **chosen):
    """Of the states above, with the ranges in which they are looked for. chosen: by name, what is otherwise."""
    declared = (
        Constant("C_U_most", "C_U of converged beliefs, at most, in C", Fraction(1), Fraction(6), better="smaller"),
        Constant("C_L_least", "C_L of converged beliefs, at least, in C", Fraction(1, 20), Fraction(1)),
        Constant(
            "queue",
            "queue in the steady state, at most, in C(R_m + D)",
            Fraction(0),
            Fraction(5),
            step=Fraction(1, 20),
            better="smaller",
        ),
        Constant("utilisation", "share of the link used, at least", Fraction(1, 10), Fraction(1)),
        Constant(
            "inflight",
            "inflight in the steady state, at most, in C(R_m + D)",
            Fraction(1),
            Fraction(10),
            step=Fraction(1, 20),
            better="smaller",
        ),
        Constant(
            "lossless_buffer",
            "buffer from which nothing is lost in the steady state, in C(R_m + D)",
            Fraction(3),
            Fraction(10),
            step=Fraction(1, 20),
            better="smaller",
        ),
        Constant(
            "drain",
            "queue drained in a window before the steady state, in C·R_m",
            Fraction(1, 20),
            Fraction(8),
            step=Fraction(1, 20),
        ),
        Constant(
            "fall",
            "factor by which C_U falls while C_L is too high",
            Fraction(101, 100),
            Fraction(5),
            step=Fraction(1, 20),
        ),
        Constant("rise", "factor by which C_L or C_U rises while C_U is too low", Fraction(101, 100), Fraction(3)),
        Constant(
            "shrink",
            "factor by which a true bound moves until converged",
            Fraction(101, 100),
            Fraction(4),
            step=Fraction(1, 20),
        ),
    )
    kept = [each for each in declared if finite or each.name != "lossless_buffer"]
    return tuple(replace(each, **chosen.get(each.name, {})) for each in kept)


def kept(name, holds):
    """The Lemma that a condition on a step is true at a window's end if it was at first."""
    return Lemma(name, lambda x, c: holds(x, 0, c), lambda x, c: holds(x, x.horizon - 1, c))


def converged_stay(remembers):
    """Converged beliefs, without the queue, on which neither constant depends."""
    return kept("converged beliefs stay so", lambda x, t, c: every(near(x, t, c), remembers(x, t, c)))


def on(buffer, horizon=11):
    """The shape with a buffer, as in queries."""
    finite = buffer != "infinite"
    high, *others = constants(finite, C_U_most={"step": Fraction(1, 4)})
    sent = Constant(
        "sent",
        "sent in a step, at most, once C_U has converged, in C",
        Fraction(1),
        Fraction(8),
        step=Fraction(1, 4),
        better="smaller",
    )
    return Proof(
        model="ccac",
        buffer=buffer,
        horizon=horizon,
        beliefs=("C_L", "C_U"),
        states=(CROSSED, STALE_LOW, STALE_HIGH, *final_states(sent_by_constant, finite)),
        constants=(high, sent, *others),
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


PROOF = on("infinite")
