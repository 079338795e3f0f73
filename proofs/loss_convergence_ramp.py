"""Step 4 of loss_convergence: risking at most f per step, a sender needs F⁻¹(C) round trips to reach C or see a loss.

In the formulas, c is C_Llambda in a round trip, and F is as in the paper. The allowance at c is f, and the allowance at
F is phi. The buffer time β_s is 1, which defines the unit of time. The induction covers numbers of any size and
intervals of any length.
"""

from itertools import combinations, permutations

from ccmatic.logic import equal, every, implies, some, times
from ccmatic.tradeoffs.statements import Hypothesis, Statement

#: The round trips of the statement about a whole ramp, and the bursts in each.
ROUNDS, SENDS = 7, 2

ANY = "all numbers"


def risks(x, more=0):
    """The condition that an interval of `length`, with `sent` bytes, risks at most the allowance plus `more`."""
    return x("sent") - times(x("c"), x("length") + 1) <= x("f") + more


ALLOWED = Hypothesis(
    "allowance",
    "an interval risks at most f(C_Llambda)",
    risks,
    ("it risks a packet more", lambda x: every(equal(x("packet"), 1), risks(x, x("packet")))),
)
NOT_NEGATIVE = Hypothesis("f ≥ 0", "the allowance is not negative", lambda x: every(x("f") >= 0, x("phi") >= 0))
NO_SHORTCUT = Hypothesis(
    "no shortcut",
    "C + f(C)/β_s never falls, so that a sender with a lower rate cannot get ahead",
    lambda x: implies(x("c") <= x("F"), x("c") + x("f") <= x("F") + x("phi")),
)
BEHIND = Hypothesis("F so far", "C_Llambda ≤ F(k) in round trip k", lambda x: x("c") <= x("F"))


def step_4_laws(x):
    yield every(x("length") >= 0, x("sent") >= 0, x("c") > 0, x("F") > 0)
    yield equal(x("F_next"), x("F") + x("phi"))


def measured(x):
    """Eq. D.1: C_Llambda does not change, or it becomes the bytes of the interval divided by its length + β_s."""
    return some(equal(x("c_next"), x("c")), equal(times(x("c_next"), x("length") + 1), x("sent")))


GROWTH = Statement(
    name="step 4: growth in a round trip",
    says="C_Llambda grows by at most f(C_Llambda)/β_s",
    equation="Appendix D, Step 4",
    theorem="step_4_growth",
    covers=ANY,
    laws=lambda x: [*step_4_laws(x), measured(x)],
    hypotheses=(ALLOWED, NOT_NEGATIVE),
    conclusion=lambda x: x("c_next") <= x("c") + x("f"),
)

BASE = Statement(
    name="step 4: induction, base",
    says="C_Llambda ≤ F(0) in round trip 0",
    equation="Appendix D, Step 4",
    theorem="step_4_no_faster",
    covers=ANY,
    laws=lambda x: [equal(x("F"), x("start")), x("start") > 0],
    hypotheses=(Hypothesis("start", "it is at most C_0 at first", lambda x: x("c") <= x("start")),),
    conclusion=lambda x: x("c") <= x("F"),
)

INDUCTION = Statement(
    name="step 4: induction, step",
    says="if C_Llambda ≤ F(k) in round trip k, then C_Llambda ≤ F(k+1) in round trip k+1, for each k and f "
    "without shortcut",
    equation="Appendix D, Step 4",
    theorem="step_4_no_faster",
    covers=ANY,
    laws=lambda x: [*step_4_laws(x), measured(x)],
    hypotheses=(BEHIND, ALLOWED, NOT_NEGATIVE, NO_SHORTCUT),
    conclusion=lambda x: x("c_next") <= x("F_next"),
)

OVERFLOWS = Hypothesis(
    "Eq. D.2", "the buffer of the link of rate C overflows", lambda x: x("sent") > times(x("C"), x("length") + 1)
)

OVERFLOW = Statement(
    name="step 4: no loss before",
    says="a link of rate C loses only if C_Llambda > C - f(C_Llambda)/β_s",
    equation="Eqs. D.2, D.3",
    theorem=None,
    covers=ANY,
    laws=lambda x: [*step_4_laws(x), x("C") > 0],
    hypotheses=(OVERFLOWS, ALLOWED, NOT_NEGATIVE),
    conclusion=lambda x: x("c") > x("C") - x("f"),
)


def risks_on_F(x, more=0):
    return x("sent") - times(x("F"), x("length") + 1) <= x("phi") + more


EVERY_LINK = Statement(
    name="step 4: allowance on every link",
    says="for any f ≥ 0, if the allowance limits the risk on every link that explains the observations, then "
    "C_Llambda ≤ F(k+1), and a link of rate C loses nothing until F(k+1) > C",
    equation="Appendix D, Step 4",
    theorem="loss_convergence",
    covers=ANY,
    laws=lambda x: [*step_4_laws(x), measured(x), x("C") > 0],
    hypotheses=(
        BEHIND,
        Hypothesis(
            "allowance",
            "an interval risks at most f(F(k)) on the link of rate F(k)",
            risks_on_F,
            ("it risks a packet more", lambda x: every(equal(x("packet"), 1), risks_on_F(x, x("packet")))),
        ),
        Hypothesis("f ≥ 0", "the allowance is not negative", lambda x: x("phi") >= 0),
    ),
    conclusion=lambda x: every(x("c_next") <= x("F_next"), implies(OVERFLOWS.holds(x), x("F_next") > x("C"))),
)


# A whole ramp, with SENDS bursts per round trip. The values of f at C_Llambda and F in each round trip are unknowns.


def ending_in(k):
    """Yield the intervals that end in round trip k, each as a pair (first burst, last burst)."""
    for last in range(k * SENDS, (k + 1) * SENDS):
        yield from ((first, last) for first in range(last + 1))


def contained(x, interval):
    """Return the bytes and the length of an interval."""
    first, last = interval
    return sum(x.row("sent", ROUNDS * SENDS)[first : last + 1]), last - first


def points(x):
    """Return the pairs (C, f(C)) at which the ramp evaluates f."""
    c, f, F, phi = x.row("c", ROUNDS + 1), x.row("f", ROUNDS), x.row("F", ROUNDS + 1), x.row("phi", ROUNDS)
    return [*zip(c, f), *zip(F, phi)]


def ramp_laws(x):
    c, F, phi = x.row("c", ROUNDS + 1), x.row("F", ROUNDS + 1), x.row("phi", ROUNDS)
    yield from (each >= 0 for each in x.row("sent", ROUNDS * SENDS))
    yield from (f >= 0 for _, f in points(x))
    yield every(x("start") > 0, equal(F[0], x("start")), equal(c[0], x("start")))
    for k in range(ROUNDS):
        yield equal(F[k + 1], F[k] + phi[k])
        seen = [contained(x, interval) for interval in ending_in(k)]
        yield every(c[k + 1] >= c[k], [sent <= c[k + 1] * (length + 1) for sent, length in seen])
        yield some(equal(c[k + 1], c[k]), [equal(sent, c[k + 1] * (length + 1)) for sent, length in seen])
    for (a, f), (b, g) in combinations(points(x), 2):
        yield implies(equal(a, b), equal(f, g))


def risks_little(x, more=0):
    """Every interval risks at most f(C_Llambda) plus `more`.

    C_Llambda is taken in the round trip in which the interval ends.
    """
    c, f = x.row("c", ROUNDS + 1), x.row("f", ROUNDS)
    for k in range(ROUNDS):
        for sent, length in (contained(x, interval) for interval in ending_in(k)):
            yield sent - c[k] * (length + 1) <= f[k] + more


def reaches(x, k):
    """By round trip k, C_Llambda reaches C, or the sender sees a loss on a link of rate C."""
    before = [contained(x, interval) for j in range(k) for interval in ending_in(j)]
    return some(x.row("c", ROUNDS + 1)[k] >= x("C"), [sent > x("C") * (length + 1) for sent, length in before])


NO_FASTER = Statement(
    name=f"step 4: {ROUNDS} round trips as a whole",
    says="rates that risk at most f at each step neither reach C nor cause a loss before round trip F⁻¹(C)",
    equation="Theorem 6.1, generalised",
    theorem="step_4_no_faster",
    covers=f"all bursts at {SENDS * ROUNDS} instants, β_s apart, in {ROUNDS} round trips",
    laws=lambda x: [*ramp_laws(x), x("C") > x("start")],
    hypotheses=(
        Hypothesis(
            "allowance",
            "each interval risks at most f(C_Llambda)",
            lambda x: every(list(risks_little(x))),
            ("each may risk a packet more", lambda x: every(equal(x("packet"), 1), list(risks_little(x, x("packet"))))),
        ),
        Hypothesis(
            "no shortcut",
            "C + f(C)/β_s does not fall",
            lambda x: every([implies(a <= b, a + f <= b + g) for (a, f), (b, g) in permutations(points(x), 2)]),
        ),
    ),
    conclusion=lambda x: every(
        [implies(reaches(x, k), x.row("F", ROUNDS + 1)[k] >= x("C")) for k in range(ROUNDS + 1)]
    ),
)

STEPS = (GROWTH, BASE, INDUCTION, OVERFLOW, EVERY_LINK, NO_FASTER)
