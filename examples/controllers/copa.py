"""Copa as CCAC has it: towards the rate 1/(delta · queueing delay), a packet an R_m up or down, without velocity.

Of a delay only whole steps are known, so that where the bounds allow both, the network chooses. There is no execution
where they allow neither, as published: that forbids that acknowledgements stall. See docs/stateful.md.
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
