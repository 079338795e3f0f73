"""What controllers by bounds of the link rate guarantee if they need not drain the queue in each window.

Examples are controllers that probe whatever waits. Beliefs become true and converge, and the link is used.
"""

from dataclasses import replace

from ccmatic.proofs.belief_parts import UTILISES
from ccmatic.proofs.link_rate import near, sent_by_constant
from ccmatic.proofs.link_rate import on as draining_on

from ccmatic.contracts import State
from ccmatic.logic import every

CONVERGED = State(
    "converged",
    "{C_L_least}·C ≤ C_L ≤ C and C ≤ C_U ≤ {C_U_most}·C",
    holds=lambda x, t, c: every(near(x, t, c), sent_by_constant(x, t, c)),
    ensures=(UTILISES,),
)


def leading_there(state):
    """Return a state of the other shape with the final state of this shape.

    In the same window, both beliefs may time out: C_L falls and C_U rises by half.
    """
    leads_to = tuple(name for name in state.leads_to if name != "steady")
    return replace(state, leads_to=leads_to, ordered=state.name == "C_U too low")


def on(buffer):
    """Return the shape for a buffer, given as in queries."""
    draining = draining_on(buffer)
    of_queues = ("queue", "inflight", "lossless_buffer", "drain")
    return replace(
        draining,
        states=(*map(leading_there, draining.states[:4]), CONVERGED),
        constants=tuple(constant for constant in draining.constants if constant.name not in of_queues),
    )


PROOF = replace(
    on("infinite"),
    formerly=(
        "8047be89f2d2e26c82cb4916de4822ac916adf9f39dd9128b49fefa550ba18ad",
        "fb4c611ccb54d8a1a3da57e2df0ad3522c8dbfcd7251741946875107720f4682",
    ),
)
