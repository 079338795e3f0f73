"""Vegas: adds a packet per R_m while fewer than two of its packets wait, and removes one while more than four do.

L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8), 1995, with
Linux's thresholds. The bytes that wait are window · delay / (R_m + delay), since the base RTT is R_m. The model knows a
delay in whole steps only, at most one step too large. Where that admits two decisions, the network chooses.
"""

FEW = 2  # packets
MANY = 4

window: bytes = above(0)


def update(window, delay, measured, before_trace, lost, timeout, app_limited, MSS, R_m, step):
    least = max(0, delay - step)
    may_increase = window * least < FEW * MSS * (R_m + least)
    must_increase = window * delay < FEW * MSS * (R_m + delay)
    may_decrease = window * delay > MANY * MSS * (R_m + delay)
    must_decrease = window * least > MANY * MSS * (R_m + least)
    more = window if app_limited else window + MSS * step / R_m
    less = max(MSS, window - MSS * step / R_m)
    if timeout:
        window = MSS
    elif lost > lost[step]:
        window = max(MSS, window / 2)
    elif before_trace:
        window = any_of(more, window, less)  # only a real sender knows this delay
    elif must_increase and measured:
        window = more
    elif must_decrease and measured:
        window = less
    elif may_increase and may_decrease and measured:
        window = any_of(more, window, less)
    elif may_increase and measured:
        window = any_of(more, window)
    elif may_decrease and measured:
        window = any_of(window, less)


def send(window):
    return window
