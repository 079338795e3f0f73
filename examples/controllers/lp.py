"""TCP-LP: additive increase that yields to others at the first sign of a queue, and wholly if that stays.

A. Kuzmanovic, E. Knightly, "TCP-LP: A Distributed Algorithm for Low Priority Data Transfer", INFOCOM 2003, section III:
an early indication halves the window and begins an inference phase, in which another takes it to a packet, and nothing
increases it. A delay of more than R_m indicates, in the place of one of 15 % of the range that was seen, smoothed.
"""

window: bytes = above(0)
inferring: time = between(0, R_m)  # what is left of the inference phase


def update(window, inferring, delay, lost, timeout, MSS, R_m, step):
    indicated = delay > R_m or lost > lost[step]
    if timeout or (indicated and inferring > 0):
        window = MSS
        inferring = max(0, inferring - step)
    elif indicated:
        window = max(MSS, window / 2)
        inferring = R_m
    elif inferring > 0:
        inferring = inferring - step
    else:
        window = window + MSS * step / R_m


def send(window):
    return window
