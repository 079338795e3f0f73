"""A constant window of one packet, paced over an R_m: CCAC's `const` with pacing."""


def send(MSS, R_m):
    return MSS, MSS / R_m
