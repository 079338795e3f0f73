"""How long the last byte acknowledged waited, and how much longer than in the interval before, in R_m."""


def observe(rtt_end, rtt_end_before, R_m):
    return [(rtt_end - R_m) / R_m, (rtt_end - rtt_end_before) / R_m]
