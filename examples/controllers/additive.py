"""Wrong: probes at one packet per R_m above the proven rate, and never slows down to drain a queue."""


def rate(C_L, R_m, MSS):
    return C_L + MSS / R_m
