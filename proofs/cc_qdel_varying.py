"""cc_qdel on a link whose rate moves between C and 3/2·C, with an infinite buffer: beliefs converge, much of the least
rate is used, and the queue drains.

C_L is true up to γ·C, so a true C_L may be above a true C_U, and C_L has no more to gain once it is at C. A step of C_L
may raise C_U by half again where C_U ≤ 2·C_L: hence 3·γ. While C_L is at γ·C little drains, at γ = 2 nothing; but then
C_L is stale, and falls.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs import cc_qdel as qdel

from ccmatic.contracts import Constant, Lemma, Measure, Proof, State
from ccmatic.logic import every, implies, largest, linear, no

C_L = Measure(
    "min(C_L, C)",
    lambda x, t: -largest(-x.beliefs["C_L"][t], -linear(x.C)),
    lambda x: x.C,
    "C",
    by="shrink",
    falls=False,
)
C_U = Measure("C_U", lambda x, t: x.beliefs["C_U"][t], lambda x: x.C, "C", by="shrink")


def on(model, most, jitter=1, horizon=11, **chosen):
    """The proof on a model whose rate is at most `most`, in C. chosen: values of constants, by name; of those that
    could be found, the edges take long to find."""

    def true(x, t):
        return every(x.beliefs["C_L"][t] <= most * x.C, x.beliefs["C_U"][t] >= x.C)

    def remembers(x, t):
        """What is inflight was sent at 2·γ·C at most since the last byte served was."""
        delays = range(1, x.horizon - 1 - x.D)
        sent = [implies(no(x.Q.at_least(t, k)), x.inflight(t) <= 2 * most * x.C * (k + x.D)) for k in delays]
        return every(x.r[t] <= 2 * most * x.C, *sent)

    def near(x, t, c):
        low, high = x.beliefs["C_L"][t] >= c["C_L_least"] * x.C, x.beliefs["C_U"][t] <= c["C_U_most"] * x.C
        return every(true(x, t), low, high, remembers(x, t))

    queue = Measure(
        "queue + (γ - 1)·C_L·R_m" if most > 1 else "queue",
        lambda x, t: x.queue(t) + (most - 1) * x.beliefs["C_L"][t],
        lambda x: 0,
        "0",
        by="drain",
        unit=lambda x: x.C,
        unit_says="C·R_m",
    )
    limit = f"{float(most):g}·C" if most > 1 else "C"
    converged = f"{{C_L_least}}·C ≤ C_L ≤ {limit} and C ≤ C_U ≤ {{C_U_most}}·C"
    final = ("beliefs true", "converged", "steady")
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
            leads_to=("converged", "steady"),
            measures=(C_L, C_U),
            unless=(qdel.UTILISES,),
        ),
        State(
            "converged",
            f"{converged}, the queue longer than {{queue}}·C(R_m + D)",
            lambda x, t, c: every(near(x, t, c), no(qdel.short_queue(x, t, c))),
            leads_to=("steady",),
            measures=(queue,),
            ensures=(qdel.UTILISES,),
        ),
        State(
            "steady",
            f"{converged}, the queue at most {{queue}}·C(R_m + D)",
            lambda x, t, c: every(near(x, t, c), qdel.short_queue(x, t, c)),
            ensures=(qdel.UTILISES, qdel.LITTLE_INFLIGHT),
        ),
    )
    constants = (
        Constant("C_U_most", "C_U of converged beliefs, at most, in C", Fraction(1), Fraction(6), better="smaller"),
        Constant("C_L_least", "C_L of converged beliefs, at least, in C", Fraction(1, 2), Fraction(1)),
        Constant(
            "queue",
            "queue in the steady state, at most, in C(R_m + D)",
            Fraction(0),
            Fraction(12),
            Fraction(1, 4),
            better="smaller",
        ),
        Constant("utilisation", "share of C that is used, at least", Fraction(1, 2), Fraction(1)),
        Constant(
            "inflight",
            "inflight in the steady state, at most, in C(R_m + D)",
            Fraction(1),
            Fraction(16),
            Fraction(1, 4),
            better="smaller",
        ),
        Constant(
            "drain",
            f"by how much {queue.name} falls in a window before the steady state, in C·R_m",
            Fraction(1, 20),
            Fraction(4),
            Fraction(1, 20),
        ),
        Constant(
            "fall", "factor by which C_U falls while C_L is too high", Fraction(6, 5), Fraction(5), Fraction(1, 5)
        ),
        Constant("rise", "factor by which C_L or C_U rises while C_U is too low", Fraction(101, 100), Fraction(6, 5)),
        Constant(
            "shrink",
            "factor by which a true bound moves until converged",
            Fraction(101, 100),
            Fraction(2),
            Fraction(1, 50),
        ),
    )
    return Proof(
        model=model,
        buffer="infinite",
        jitter=jitter,
        horizon=horizon,
        beliefs=("C_L", "C_U"),
        states=states,
        constants=tuple(replace(each, at=chosen.get(each.name)) for each in constants),
        lemmas=(
            Lemma("converged beliefs stay so", lambda x, c: near(x, 0, c), lambda x, c: near(x, x.horizon - 1, c)),
        ),
    )


PROOF = on(
    "varying",
    Fraction(3, 2),
    C_U_most=Fraction(9, 2),
    C_L_least=Fraction(3, 5),
    queue=Fraction(6),
    inflight=Fraction(9),
)
