"""cc_qdel on a link whose rate moves between C and 3/2·C, with an infinite buffer: beliefs converge, much of the least
rate is used, and the queue drains.

C_L is true up to γ·C, so a true C_L may be above a true C_U, and C_L has no more to gain once it is at C. A step of C_L
may raise C_U by half again where C_U ≤ 2·C_L: hence 3·γ. While C_L is at γ·C little drains, at γ = 2 nothing; but then
C_L is stale, and falls.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs.link_rate import LITTLE_INFLIGHT, UTILISES, constants, crossed, kept, short_queue

from ccmatic.contracts import Measure, Proof, State
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
            lambda x, t, c: every(crossed(x, t), no(true(x, t))),
            leads_to=("C_L too high", "C_U too low", *final),
        ),
        State(
            "C_L too high",
            f"{limit} < C_L ≤ C_U",
            lambda x, t, c: every(x.beliefs["C_L"][t] > most * x.C, no(crossed(x, t))),
            leads_to=final,
            measures=(replace(C_U, by="fall"),),
            unless=(UTILISES,),
        ),
        State(
            "C_U too low",
            "C_L ≤ C_U < C",
            lambda x, t, c: every(x.beliefs["C_U"][t] < x.C, no(crossed(x, t))),
            leads_to=final,
            measures=(replace(C_U, by="rise", falls=False), replace(C_L, by="rise")),
        ),
        State(
            "beliefs true",
            f"C_L ≤ {limit} and C ≤ C_U, not converged",
            lambda x, t, c: every(true(x, t), no(near(x, t, c))),
            leads_to=("converged", "steady"),
            measures=(C_L, C_U),
            unless=(UTILISES,),
        ),
        State(
            "converged",
            f"{converged}, the queue longer than {{queue}}·C(R_m + D)",
            lambda x, t, c: every(near(x, t, c), no(short_queue(x, t, c))),
            leads_to=("steady",),
            measures=(queue,),
            ensures=(UTILISES,),
        ),
        State(
            "steady",
            f"{converged}, the queue at most {{queue}}·C(R_m + D)",
            lambda x, t, c: every(near(x, t, c), short_queue(x, t, c)),
            ensures=(UTILISES, LITTLE_INFLIGHT),
        ),
    )
    found = constants(
        finite=False,
        C_L_least={"low": Fraction(1, 2)},
        queue={"high": Fraction(12), "step": Fraction(1, 4)},
        utilisation={"low": Fraction(1, 2), "says": "share of C that is used, at least"},
        inflight={"high": Fraction(16), "step": Fraction(1, 4)},
        drain={
            "high": Fraction(4),
            "says": f"by how much {queue.name} falls in a window before the steady state, in C·R_m",
        },
        fall={"low": Fraction(6, 5), "step": Fraction(1, 5)},
        rise={"high": Fraction(6, 5)},
        shrink={"high": Fraction(2), "step": Fraction(1, 50)},
    )
    return Proof(
        model=model,
        buffer="infinite",
        jitter=jitter,
        horizon=horizon,
        beliefs=("C_L", "C_U"),
        states=states,
        constants=tuple(replace(each, at=chosen.get(each.name)) for each in found),
        lemmas=(kept("converged beliefs stay so", near),),
    )


PROOF = replace(
    on(
        "varying",
        Fraction(3, 2),
        C_U_most=Fraction(9, 2),
        C_L_least=Fraction(3, 5),
        queue=Fraction(6),
        inflight=Fraction(9),
    ),
    formerly=("10552b37f9a60eebb880370a3361d427e564f47d69377b5a214e6a6fabda2624",),
)
