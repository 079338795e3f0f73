"""The smoothed RTT (RFC 6298). The latest interval has a weight of 1/8, and the initial value is R_m."""


def first_smoothed_rtt(R_m):
    return R_m


def next_smoothed_rtt(smoothed_rtt, rtt):
    return smoothed_rtt + (rtt - smoothed_rtt) / 8
