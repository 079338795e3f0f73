"""CCAC's Copa at any step of its life.

Where a delay is unknown or longer than the trace so far, the network chooses the direction. Elsewhere this controller
behaves like copa.py. The choices include all behaviour of copa.py, also its decrease for bytes sent before the trace.
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
