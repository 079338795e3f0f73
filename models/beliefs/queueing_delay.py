"""qdel_L and qdel_U: bounds on the queueing delay of the last acknowledged byte (Eq. 5.1)."""

from functools import cache

from ccmatic.base import TIME
from ccmatic.contracts import Program, StateBelief, sender_belief

#: A measured delay is rounded down to whole steps. qdel_L assumes that the delay contains all the jitter; qdel_U
#: assumes that the delay contains no jitter.
PROGRAM = Program(
    """\
def qdel_L(delay, D):
    return max(0, delay - D)

def qdel_U(delay, step):
    return delay + step
""",
    {"qdel_L": TIME, "qdel_U": TIME},
    __file__,
)

QUEUEING_DELAY = (StateBelief.of(PROGRAM, "qdel_L"), StateBelief.of(PROGRAM, "qdel_U", upper=True))


@cache
def sender_queueing_delay():
    """Return qdel_L and qdel_U, the bounds on the queueing delay, for window senders."""
    return (
        sender_belief(PROGRAM, "qdel_L", "how long the last byte acknowledged waited in a queue, at least"),
        sender_belief(PROGRAM, "qdel_U", "the same, at most"),
    )
