"""Vegas: a packet more an R_m while fewer than two of its own wait, a packet less where more than four do.

L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8), 1995, with
Linux's thresholds. What waits is window · delay / (R_m + delay), as the base RTT is R_m. Of a delay only whole steps are
known, up to one too many, so that where that leaves two decisions, the network chooses.
"""

FEW = 2  # packets
MANY = 4

window: bytes = above(0)


def update(window, delay, measured, before_trace, lost, timeout, MSS, R_m, step):
    least = max(0, delay - step)
    may_increase = window * least < FEW * MSS * (R_m + least)
    must_increase = window * delay < FEW * MSS * (R_m + delay)
    may_decrease = window * delay > MANY * MSS * (R_m + delay)
    must_decrease = window * least > MANY * MSS * (R_m + least)
    more = window + MSS * step / R_m
    less = max(MSS, window - MSS * step / R_m)
    if timeout:
        window = MSS
    elif lost > lost[step]:
        window = max(MSS, window / 2)
    elif before_trace:
        window = any_of(more, window, less)  # the delay is one that only the sender knows
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
