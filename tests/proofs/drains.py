"""A smallest proof for tests, decided in moments: that the queue of a sender of next to nothing drains."""

from fractions import Fraction

from ccmatic.contracts import Constant, Lemma, Measure, Objective, Proof, State
from ccmatic.logic import choice, every, no  # noqa: F401 (what is forged from this uses all)


def short(x, t, c):
    """The queue, in C·R_m."""
    return x.queue(t) <= c["short"] * x.C


def drains_by(amount):
    """Return a lemma for comparison only: a long queue drains by this amount."""
    return Lemma(
        f"drains by {amount}",
        lambda x, c: x.queue(0) >= 10 * x.C,
        lambda x, c: x.queue(x.horizon - 1) <= x.queue(0) - amount * x.C,
        paper=True,
    )


QUEUE = Measure("queue", lambda x, t: x.queue(t), lambda x: 0, "0", by="drain", unit=lambda x: x.C, unit_says="C·R_m")
LITTLE_INFLIGHT = Objective(
    "bounds inflight",
    "inflight is at most {inflight}·C·R_m",
    lambda x, c: every([x.inflight(t) <= c["inflight"] * x.C for t in range(x.horizon)]),
)
LONG = State("long", "the queue is longer than {short}·C·R_m", lambda x, t, c: no(short(x, t, c)), ("short",), (QUEUE,))
SHORT = State("short", "the queue is {short}·C·R_m at most", short, ensures=(LITTLE_INFLIGHT,))

PROOF = Proof(
    model="ideal",
    buffer="infinite",
    jitter=0,
    horizon=5,
    beliefs=(),
    states=(LONG, SHORT),
    constants=(
        Constant("short", "a short queue", Fraction(1), Fraction(3), at=Fraction(2), front=(Fraction(1), Fraction(3))),
        Constant("drain", "drained in a window", Fraction(1, 4), Fraction(5), Fraction(1, 4)),
        Constant("inflight", "inflight at most", Fraction(1, 2), Fraction(4), Fraction(1, 4), better="smaller"),
    ),
    lemmas=(drains_by(2), drains_by(4)),
)
