"""CCAC's Copa as it is at any step of its life, not at its first alone.

It does as copa.py, but where a delay is not known, or is longer than the trace so far: there the network chooses, which
what copa.py does is among. So is the step down for what was sent before the trace began.
"""

window: bytes = above(0)


def update(window, measured, delay, MSS, R_m, D, step):
    least = max(0, delay - step)
    known = delay >= 0
    may_increase = measured and not window * least > MSS * (R_m + least)
    may_decrease = (measured and not window * delay[D] < MSS * (R_m + delay[D])) or not known
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
