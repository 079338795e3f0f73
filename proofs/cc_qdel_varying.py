"""cc_qdel on a link whose rate varies between C and 3/2·C, with an infinite buffer.

Beliefs converge, much of the lowest rate is used, and the queue drains. Let γ·C be the highest rate. C_L is true up to
γ·C. So a true C_L may exceed a true C_U, and C_L need not rise beyond C. A step of C_L may raise C_U by half if C_U ≤
2·C_L; hence the bound 3·γ. While C_L is at γ·C, the queue drains slowly, and at γ = 2 not at all. But then C_L is
stale, and falls.
"""

from dataclasses import replace
from fractions import Fraction

from ccmatic.proofs import link_rate as rate
from ccmatic.proofs.belief_parts import of_belief, of_queue

from ccmatic.contracts import Proof
from ccmatic.logic import every, largest, linear, no

C_L = replace(
    of_belief("min(C_L, C)", "shrink", falls=False),
    value=lambda x, t: -largest(-x.beliefs["C_L"][t], -linear(x.C)),
)
C_U = of_belief("C_U", "shrink")


def on(model, most, jitter=1, horizon=11, **chosen):
    """Return the proof for another model.

    Args:
        model: The model.
        most: γ, the ratio of the highest rate to C.
        jitter: D in steps.
        horizon: T, the steps of a window.
        chosen: Values of constants, by name. The search could find them too, but their edges take long.
    """

    def remembers(x, t, c):
        """Since the last served byte was sent, bytes were sent at 2·γ·C at most."""
        return every(x.r[t] <= 2 * most * x.C, rate.remembers(x, t, 2 * most))

    queue = of_queue(
        "queue + (γ - 1)·C_L·R_m" if most > 1 else "queue",
        lambda x, t: x.queue(t) + (most - 1) * x.beliefs["C_L"][t],
    )
    states = rate.states(
        remembers,
        most=most,
        empty=lambda x, t: every(rate.crossed(x, t), no(rate.true(x, t, most))),
        C_L=C_L,
        C_U=C_U,
        rising=(replace(C_U, by="rise", falls=False), replace(C_L, by="rise")),
        queue=queue,
    )
    drain = f"by how much {queue.name} falls in a window before the steady state, in C·R_m"
    found = rate.constants(
        C_L_least={"low": Fraction(1, 2)},
        queue={"high": Fraction(12), "step": Fraction(1, 4)},
        utilisation={"low": Fraction(1, 2)},
        inflight={"high": Fraction(16), "step": Fraction(1, 4)},
        drain={"high": Fraction(4), "says": drain},
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
        lemmas=(rate.converged_stay(remembers, most),),
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
    formerly=(
        "7e3107043110462b3faee0ccaca5ca637dbf4764ba6cbd399f653eb2a2b08764",
        "10552b37f9a60eebb880370a3361d427e564f47d69377b5a214e6a6fabda2624",
        "83db02bfb19a993723359685321f1c51e8e4b06471db3fa248379ad1f720eb1b",
    ),
)
