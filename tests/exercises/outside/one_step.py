"""CCAC with a belief of its own, C_S: the link serves at least what came in one step, less what jitter explains."""

from ccmatic.models.ccac import CCAC

from ccmatic.contracts import RATE, Program, RunningMax

#: At most C·(1 + D) bytes arrive in a step.
PROGRAM = Program(
    """\
def C_S(acked, D, step):
    return max((acked - acked[k]) / (k + D) for k in past if k <= step)
""",
    {"C_S": RATE},
    __file__,
)


class OneStep(CCAC):
    """The belief in every world."""

    name = "one_step"

    def __init__(self):
        super().__init__()
        served = RunningMax.of(
            PROGRAM,
            "C_S",
            start=lambda x, t: x.beliefs["C_S"][t] >= x.alpha,
            true_start=lambda x: x.alpha,
            holds=lambda x, bound: bound <= x.C,
        )
        self.beliefs = (*self.beliefs, served)


MODEL = OneStep()
