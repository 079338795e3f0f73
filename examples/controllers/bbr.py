"""BBR as in CCAC: the highest rate of acknowledgements in four steps, with gains of 5/4 and 4/5 in two of four R_m.

It has no startup, no ProbeRTT, no smallest window, and no reaction to loss.
"""

window: bytes = anything()
pace: rate = above(0)
phase: time = any_of(R_m - step, 2 * R_m - step, 3 * R_m - step, 4 * R_m - step)  # a multiple of R_m at the first decision
seen_1: rate = 0
seen_2: rate = 0
seen_3: rate = 0


def update(phase, seen_1, seen_2, seen_3, acked, R_m, step):
    seen = (acked - acked[R_m]) / R_m
    highest = max(seen, seen_1, seen_2, seen_3)
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
