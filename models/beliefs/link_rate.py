"""C_L and C_U: a lower and an upper bound on the link's rate (section 5.1.1)."""

from functools import cache, partial

from ccmatic.base import RATE
from ccmatic.contracts import Program, RunningMax, RunningMin, sender_belief

#: Eq. 5.2: the link serves at most C·(T + D) bytes in T steps, and at least C·(T - D) bytes in T busy steps. A loss, or
#: a delay that jitter does not explain, shows that the link is busy in a step. An application-limited step gives no
#: information.
#:
#: The timeouts are those of docs/reference/encoding.md, section 6. A bound changes much in a window if it changes by
#: more than a factor of 11/10. An upper bound that times out grows by half. C_L stays at least one packet per step: a
#: smaller value would change no decision, and the next window would start with a bound that no proof covers.
_SOURCE = """\
def utilised(acked, delay, timely, limited, D, step):
    return ({busy}) and not limited

def most_served(acked, D):
    return max((acked - acked[k]) / (k + D) for k in past)

def C_L(most_served):
    return most_served

def C_U(acked, utilised, D, step):
    return min((acked - acked[k]) / (k - {most}) for k in past if k > {most} and all(utilised[j] for j in since(k)))

def far(C_L, C_U):
    return C_U > 2 * C_L

def crossed(C_L, C_U):
    return C_U < C_L

def raised(C_L, time):
    return C_L > C_L[time]

def lowered(C_U, time):
    return C_U < C_U[time]

def C_L_timeout(C_L, C_U, most_served, far, crossed, raised, lowered, MSS, R_m, time):
    much_lowered = 11 / 10 * C_U < C_U[time]
    stale = not raised and not far and (lowered and crossed or not much_lowered)
    return max(MSS / R_m, most_served) if stale else C_L

def C_U_timeout(C_L, C_U, C_L_timeout, far, crossed, raised, lowered, time, step):
    much_raised = C_L > 11 / 10 * C_L[time]
    stale = not lowered and not far and (raised and crossed or not much_raised)
    return max(C_L_timeout, 3 / 2 * C_U[step]) if stale else C_U
"""


def _program(busy, most):
    return Program(_SOURCE.format(busy=busy, most=most), {"C_L": RATE, "C_U": RATE}, __file__)


PROGRAM = _program(busy="delay > D or timely > timely[step]", most="D")

#: The bounds on a path that also loses bytes by chance. A loss does not show a busy link. If all bytes of a step are
#: lost, the measured delay is old, and the link may be idle for a part of a step. So only a new delay shows that the
#: link was busy, namely in an earlier step.
BY_DELAY = _program(busy="delay > D + step and acked > acked[step]", most="(D + step)")


def link_rate(model, most=None, program=PROGRAM):
    """Return C_L and C_U, a model's beliefs about the link rate.

    Args:
        model: The network model.
        most: A function that returns the largest value of the lower bound C_L that is true in an execution. By default
            this is the largest rate of the link.
        program: PROGRAM or BY_DELAY.
    """
    most = most or (lambda x: model.variation * x.C)
    return (
        RunningMax.of(
            program,
            "C_L",
            start=lambda x, t: x.beliefs["C_L"][t] >= x.alpha,
            true_start=lambda x: x.alpha,
            holds=lambda x, bound: bound <= most(x),
            averages=True,
        ),
        RunningMin.of(
            program,
            "C_U",
            start=lambda x, t: x.beliefs["C_U"][t] > 0,
            true_start=lambda x: x.C,
            holds=lambda x, bound: bound >= x.C,
            turns_false=partial(_no_busy_link, model) if program is PROGRAM else RunningMin.turns_false,
            averages=True,
        ),
    )


@cache
def sender_link_rate(most=lambda x: x.C, pauses=False, program=PROGRAM):
    """Return C_L and C_U, the bounds on the link's rate, for window senders.

    Both are true if no other flow uses the link.

    Args:
        most: A function that returns the largest value of the lower bound C_L that is true in an execution.
        pauses: Whether applications may pause.
        program: PROGRAM or BY_DELAY.
    """
    return (
        sender_belief(program, "C_L", "the link rate, at least", lambda flow, t, rate: rate <= most(flow.network)),
        sender_belief(
            program,
            "C_U",
            "the link rate, at most",
            lambda flow, t, rate: rate >= flow.network.C,
            upper=True,
            pauses=pauses,
        ),
    )


def _no_busy_link(model, flow, buffer):
    """Describe the networks on which C_U can turn false.

    On these, the sender cannot tell that the link was almost idle. docs/reference/encoding.md explains why.
    """
    if not buffer.finite or flow.D == 1 or (flow.D == 0 and model.sees_losses_at_once):
        return None
    return f"D is {'2 steps or more' if flow.D else 0} and the buffer is finite"
