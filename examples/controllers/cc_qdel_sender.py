"""cc_qdel as a sender that reads its beliefs, with at least one packet per R_m.

The delay of bytes sent before the trace is known only to a real sender, so the network chooses the branch there.
"""

pace: rate = above(0)


def update(C_L, qdel_L, before_trace, MSS, R_m):
    slow = max(C_L / 2, MSS / R_m)
    fast = max(2 * C_L, MSS / R_m)
    if before_trace:
        pace = any_of(slow, fast)
    elif qdel_L > 0:
        pace = slow
    else:
        pace = fast


def send(pace):
    return pace
