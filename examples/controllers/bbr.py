"""BBR as in CCAC: the highest rate of acknowledgements in four steps, with gains of 5/4 and 4/5 in two of four R_m.

It has no startup, no ProbeRTT, no smallest window, and no reaction to loss. A rate counts only if it is the highest, or
if the application did not limit the sender in the last 2·R_m.
"""

window: bytes = anything()
pace: rate = above(0)
phase: time = any_of(R_m - step, 2 * R_m - step, 3 * R_m - step, 4 * R_m - step)  # a multiple of R_m at the first decision
seen_1: rate = 0
seen_2: rate = 0
seen_3: rate = 0
busy: time = 2 * R_m  # the time since the application last limited the sender, at most 2·R_m


def update(phase, seen_1, seen_2, seen_3, busy, acked, app_limited, R_m, step):
    busy = 0 if app_limited else min(busy + step, 2 * R_m)
    seen = (acked - acked[R_m]) / R_m
    highest = max(seen, seen_1, seen_2, seen_3)
    if busy >= 2 * R_m or seen >= highest:
        seen_3 = seen_2
        seen_2 = seen_1
        seen_1 = seen
    window = 2 * highest * R_m
    if phase >= 4 * R_m - step:
        phase = phase + step - 4 * R_m
    else:
        phase = phase + step
    if phase == 0:
        pace = 5 / 4 * highest
    elif phase == R_m:
        pace = 4 / 5 * highest
    else:
        pace = highest


def send(window, pace):
    return window, pace
