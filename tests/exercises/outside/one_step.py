"""CCAC with a belief of its own, C_S: the link serves at least what came in one step, less what jitter explains."""

from ccmatic.models.ccac import CCAC

from ccmatic.base import RATE
from ccmatic.contracts import RunningMax, Sample


def _served(x, t):
    """At most C·(1 + D) bytes arrive in a step."""
    yield Sample(x.S[t] - x.S[t - 1], 1 + x.D)


class OneStep(CCAC):
    """one_step.h has the belief in C."""

    name = "one_step"
    runtime = ("link_rate.h", "one_step.h")

    def __init__(self):
        super().__init__()
        served = RunningMax(
            "C_S",
            RATE,
            samples=_served,
            start=lambda x, t: x.beliefs["C_S"][t] >= x.alpha,
            true_start=lambda x: x.alpha,
            holds=lambda x, bound: bound <= x.C,
        )
        self.beliefs = (*self.beliefs, served)


MODEL = OneStep()
