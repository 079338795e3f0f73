"""Copa as in CCAC, except that its window stays constant where the bounds of a delay admit neither direction.

This happens when acknowledgements stall, which copa.py excludes. See docs/stateful.md.
"""

window: bytes = above(0)


def update(window, measured, delay, before_trace, app_limited, MSS, R_m, D, step):
    least = max(0, delay - step)
    may_increase = measured and window * least <= MSS * (R_m + least)
    may_decrease = measured and window * delay[D] >= MSS * (R_m + delay[D])
    more = window if app_limited else window + MSS * step / R_m
    less = max(MSS, window - MSS * step / R_m)
    if before_trace:
        window = any_of(more, window, less)  # only a real sender knows this delay
    elif may_increase and may_decrease:
        window = any_of(more, less)
    elif may_increase:
        window = more
    elif may_decrease:
        window = less


def send(window, R_m):
    return window, window / R_m
