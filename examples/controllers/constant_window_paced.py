"""A window of one packet, sent evenly over an R_m: CCAC's `const` with pacing."""


def send(MSS, R_m):
    return MSS, MSS / R_m
