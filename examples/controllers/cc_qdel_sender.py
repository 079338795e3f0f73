"""cc_qdel as a sender by what it believes, at least a packet an R_m.

A delay of what was sent before the trace is one that only the sender knows, so that there the network chooses.
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
