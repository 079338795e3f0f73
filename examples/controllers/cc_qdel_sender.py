"""cc_qdel as a sender that remembers: what it believes, C_L, is state that it keeps of what was acknowledged.

Where others send, C_L stays a lower bound of the link rate, as no flow is served more than all are (docs/flows.md). Of
service over more than four steps it takes no sample. A delay of what was sent before the trace is one that only the
sender knows, so that there the network chooses.
"""

C_L: rate = above(0)
pace: rate = above(0)


def update(C_L, acked, delay, before_trace, time, MSS, R_m, D, step):
    if time >= R_m + step:
        C_L = max(C_L, (acked - acked[step]) / (step + D))
    if time >= R_m + 2 * step:
        C_L = max(C_L, (acked - acked[2 * step]) / (2 * step + D))
    if time >= R_m + 3 * step:
        C_L = max(C_L, (acked - acked[3 * step]) / (3 * step + D))
    if time >= R_m + 4 * step:
        C_L = max(C_L, (acked - acked[4 * step]) / (4 * step + D))
    slow = max(C_L / 2, MSS / R_m)
    fast = max(2 * C_L, MSS / R_m)
    if before_trace:
        pace = any_of(slow, fast)
    elif delay > D:
        pace = slow
    else:
        pace = fast


def send(pace):
    return pace
