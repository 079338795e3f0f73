"""Performance in a window of T-1 steps, as in proofs: utilisation, losses, and bytes in flight (section 6.3)."""

from ccmatic.logic import every


def bdp(x):
    """Return C(R_m + D), the bytes that fill the path including its jitter."""
    return x.C * (1 + x.D)


def utilises(x, share):
    """Return the condition that the link serves at least a share of its capacity: S(T) - S(0) ≥ share·C(T - D)."""
    e = x.horizon - 1
    return x.S[e] - x.S[0] >= share * x.C * (e - x.D)


def loses_at_most(x, packets):
    """Return the condition that in each R_m at most `packets` packets are lost."""
    return every([x.L[t] - x.L[t - 1] <= packets * x.alpha for t in range(1, x.horizon)])


def inflight_within(x, most):
    """Return the condition that the bytes in flight are at most `most`·C(R_m + D) at each step."""
    return every([x.inflight(t) <= most * bdp(x) for t in range(x.horizon)])
