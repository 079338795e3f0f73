"""TCP-LP: additive increase that yields to others at the first sign of a queue, and completely if the queue stays.

A. Kuzmanovic, E. Knightly, "TCP-LP: A Distributed Algorithm for Low Priority Data Transfer", INFOCOM 2003, section III.
An early indication of congestion halves the window and begins an inference phase. Another indication in this phase
reduces the window to a packet, and nothing increases it. Here a delay above R_m is an indication; in the paper it is a
smoothed delay above 15 % of the observed range.
"""

window: bytes = above(0)
inferring: time = between(0, R_m)  # the rest of the inference phase


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
