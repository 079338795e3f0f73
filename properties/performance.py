"""What controllers are proved to do in a window of T-1 steps: utilisation, losses, inflight (section 6.3)."""

from ccmatic.logic import every


def bdp(x):
    """C(R_m + D)."""
    return x.C * (1 + x.D)


def utilises(x, share):
    """S(T) - S(0) ≥ share·C(T - D)."""
    e = x.horizon - 1
    return x.S[e] - x.S[0] >= share * x.C * (e - x.D)


def loses_at_most(x, packets):
    """In each R_m."""
    return every([x.L[t] - x.L[t - 1] <= packets * x.alpha for t in range(1, x.horizon)])


def inflight_within(x, most):
    """At each step, in C(R_m + D)."""
    return every([x.inflight(t) <= most * bdp(x) for t in range(x.horizon)])
