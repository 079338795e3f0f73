"""Copa as in CCAC: towards the rate 1/(delta · queueing delay), by one packet per R_m, without velocity.

The model knows a delay only in whole steps. Where that admits both directions, the network chooses. Executions in which
it admits neither are excluded, as published: this rules out stalls of acknowledgements. See docs/stateful.md.
"""

window: bytes = above(0)


def update(window, measured, delay, before_trace, MSS, R_m, D, step):
    least = max(0, delay - step)
    may_increase = measured and window * least <= MSS * (R_m + least)
    may_decrease = (measured and window * delay[D] >= MSS * (R_m + delay[D])) or before_trace
    assume(may_increase or may_decrease)
    more = window + MSS * step / R_m
    less = max(MSS, window - MSS * step / R_m)
    if not may_decrease:
        window = more
    elif not may_increase:
        window = less
    else:
        window = any_of(more, less)


def send(window, R_m):
    return window, window / R_m
