"""cc_qdel on a link whose rate moves between C and 3/2·C, with an infinite buffer: beliefs converge, and much of the
least rate is used. That its queue drains is refuted.

C_L is true up to γ·C, so a true C_L may be above a true C_U, and C_L has no more to gain once it is at C. A step of C_L
may raise C_U by half again where C_U ≤ 2·C_L: hence 3·γ.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs import cc_qdel as qdel

from ccmatic.contracts import Constant, Lemma, Measure, Proof, State
from ccmatic.logic import every, implies, largest, linear, no

#: A queue from which it should drain, in C(R_m + D).
LONG = Fraction(5)

C_L = Measure(
    "min(C_L, C)",
    lambda x, t: -largest(-x.beliefs["C_L"][t], -linear(x.C)),
    lambda x: x.C,
    "C",
    by="shrink",
    falls=False,
)
C_U = Measure("C_U", lambda x, t: x.beliefs["C_U"][t], lambda x: x.C, "C", by="shrink")


def on(model, most, least, jitter=1, horizon=11):
    """The proof on a model whose rate is at most `most`, in C; converged, C_L is `least` at least."""

    def true(x, t):
        return every(x.beliefs["C_L"][t] <= most * x.C, x.beliefs["C_U"][t] >= x.C)

    def near(x, t, c):
        return every(
            true(x, t), x.beliefs["C_L"][t] >= c["C_L_least"] * x.C, x.beliefs["C_U"][t] <= c["C_U_most"] * x.C
        )

    def remembers(x, t):
        """What is inflight was sent at 2·γ·C at most since the last byte served was."""
        delays = range(1, x.horizon - 1 - x.D)
        return every([implies(no(x.Q.at_least(t, k)), x.inflight(t) <= 2 * most * x.C * (k + x.D)) for k in delays])

    def long(x, c):
        return every(near(x, 0, c), remembers(x, 0), no(qdel.short_queue(x, 0, {"queue": LONG})))

    limit = f"{float(most):g}·C" if most > 1 else "C"
    final = ("beliefs true", "steady")
    states = (
        State(
            "beliefs empty",
            f"C_L > C_U, and not both C_L ≤ {limit} and C ≤ C_U",
            lambda x, t, c: every(qdel.crossed(x, t), no(true(x, t))),
            leads_to=("C_L too high", "C_U too low", *final),
        ),
        State(
            "C_L too high",
            f"{limit} < C_L ≤ C_U",
            lambda x, t, c: every(x.beliefs["C_L"][t] > most * x.C, no(qdel.crossed(x, t))),
            leads_to=final,
            measures=(replace(C_U, by="fall"),),
            unless=(qdel.UTILISES,),
        ),
        State(
            "C_U too low",
            "C_L ≤ C_U < C",
            lambda x, t, c: every(x.beliefs["C_U"][t] < x.C, no(qdel.crossed(x, t))),
            leads_to=final,
            measures=(replace(C_U, by="rise", falls=False), replace(C_L, by="rise")),
        ),
        State(
            "beliefs true",
            f"C_L ≤ {limit} and C ≤ C_U, not converged",
            lambda x, t, c: every(true(x, t), no(near(x, t, c))),
            leads_to=("steady",),
            measures=(C_L, C_U),
            unless=(qdel.UTILISES,),
        ),
        State(
            "steady",
            f"{{C_L_least}}·C ≤ C_L ≤ {limit} and C ≤ C_U ≤ {{C_U_most}}·C",
            near,
            ensures=(qdel.UTILISES,),
        ),
    )
    return Proof(
        model=model,
        buffer="infinite",
        jitter=jitter,
        horizon=horizon,
        beliefs=("C_L", "C_U"),
        states=states,
        constants=(
            Constant(
                "C_U_most",
                "C_U of converged beliefs, at most, in C",
                Fraction(1),
                Fraction(6),
                better="smaller",
                at=3 * most,
            ),
            Constant("C_L_least", "C_L of converged beliefs, at least, in C", Fraction(1, 2), Fraction(1), at=least),
            Constant("utilisation", "share of C that is used, at least", Fraction(1, 2), Fraction(1)),
            Constant(
                "fall", "factor by which C_U falls while C_L is too high", Fraction(6, 5), Fraction(5), Fraction(1, 5)
            ),
            Constant(
                "rise",
                "factor by which C_L or C_U rises while C_U is too low",
                Fraction(101, 100),
                Fraction(6, 5),
                Fraction(1, 100),
            ),
            Constant(
                "shrink",
                "factor by which a true bound moves until converged",
                Fraction(101, 100),
                Fraction(2),
                Fraction(1, 50),
            ),
        ),
        lemmas=(
            Lemma(
                f"F.6: a queue over {LONG}·C(R_m + D) falls",
                long,
                lambda x, c: x.queue(x.horizon - 1) < x.queue(0),
                paper=True,
            ),
        ),
    )


PROOF = on("varying", Fraction(3, 2), Fraction(3, 5))
