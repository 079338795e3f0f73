"""Beliefs about the link rate and the queueing delay, shared by all models (section 5.1.1)."""

from fractions import Fraction

from ccmatic.base import RATE, TIME
from ccmatic.contracts import RunningMax, RunningMin, Sample
from ccmatic.contracts import StateBelief as State
from ccmatic.logic import choice, equal, every, implies, largest, no, some

#: A change of a bound in one window is small up to this factor; by how much a stale upper bound grows.
SMALL, GROWTH = Fraction(11, 10), Fraction(3, 2)


def utilised(model, x, k):
    """Step k (from k to k+1) kept the link busy: more than D of delay, or a loss; a step in which the sender is limited
    does not tell. A bound is of a link that is busy from s to t-D, of which all steps from s to t tell."""
    congested = some(x.Q.at_least(k + 1, x.D + 1), model.loss_seen(x, k + 1) > model.loss_seen(x, k))
    return every(congested, no(x.limited[k + 1]))


def _most_served(x, t):
    """Eq. 5.2: at most C·(T + D) bytes arrive in T steps."""
    for s in range(t):
        yield Sample(x.S[t] - x.S[s], t - s + x.D)


def _least_served(model):
    def samples(x, t):
        """Eq. 5.2: at least C·(T - D) bytes arrive in T steps of a busy link."""
        steps = [utilised(model, x, k) for k in range(t)]
        for s in range(t - x.D):
            yield Sample(x.S[t] - x.S[s], t - s - x.D, every(steps[s:]))

    return samples


def _no_busy_link(flow, buffer):
    """Where neither a delay nor a loss tells of the step in which the link was all but idle (docs/encoding.md)."""
    return "D is 2 steps or more and the buffer is finite" if flow.D >= 2 and buffer.finite else None


def _queueing_delay_least(x):
    """Eq. 5.1: what jitter cannot explain; by whole steps."""
    for t in range(x.horizon):
        for k in range(x.horizon + 1):
            value = equal(x.beliefs["qdel_L"][t], max(0, k - x.D))
            yield "qdel_L_measured", t, implies(x.Q.exactly(t, k), value)


def _queueing_delay_least_seen(x, t):
    return max(0, min(x.Q.steps(t), x.horizon) - x.D)


def _queueing_delay_most(x):
    """Eq. 5.1: no jitter at all; a delay past the horizon is known only to be that long."""
    for t in range(x.horizon):
        bound = x.beliefs["qdel_U"][t]
        for k in range(x.horizon):
            yield "qdel_U_measured", t, implies(x.Q.exactly(t, k), equal(bound, k + 1))
        yield "qdel_U_measured", t, implies(x.Q.exactly(t, x.horizon), bound >= x.horizon)


def timeouts(x):
    """C_L and C_U after the periodic timeout (docs/encoding.md, section 6), by name. C_L stays a packet a step at
    least: below that nothing changes, and the next window would start with a bound that no window is proved for."""
    e = x.horizon - 1
    C_L, C_U = x.beliefs["C_L"], x.beliefs["C_U"]
    low, high = x.before_timeout["C_L"][e], x.before_timeout["C_U"][e]
    far, crossed = high > 2 * low, high < low
    raised, lowered = low > C_L[0], high < C_U[0]
    much_raised, much_lowered = low > SMALL * C_L[0], SMALL * high < C_U[0]
    recent = largest(x.alpha, *(sample.value for sample in _most_served(x, e)))
    low_is_stale = every(no(raised), no(far), some(every(lowered, crossed), no(much_lowered)))
    high_is_stale = every(no(lowered), no(far), some(every(raised, crossed), no(much_raised)))
    after = choice(low_is_stale, recent, low)
    yield "C_L", after
    yield "C_U", choice(high_is_stale, largest(after, GROWTH * C_U[e - 1]), high)


def link_rate(model):
    """C_L, C_U, qdel_L and qdel_U of a model."""
    return (
        RunningMax(
            "C_L",
            RATE,
            samples=_most_served,
            start=lambda x, t: x.beliefs["C_L"][t] >= x.alpha,
            true_start=lambda x: x.alpha,
            holds=lambda x, bound: bound <= model.variation * x.C,
        ),
        RunningMin(
            "C_U",
            RATE,
            samples=_least_served(model),
            start=lambda x, t: x.beliefs["C_U"][t] > 0,
            true_start=lambda x: x.C,
            holds=lambda x, bound: bound >= x.C,
            turns_false=_no_busy_link,
        ),
        State(
            "qdel_L",
            TIME,
            laws=_queueing_delay_least,
            value=_queueing_delay_least_seen,
            most=lambda x: x.horizon - x.D,
        ),
        State("qdel_U", TIME, laws=_queueing_delay_most, value=lambda x, t: x.Q.steps(t) + 1),
    )
