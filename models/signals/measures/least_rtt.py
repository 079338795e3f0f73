"""The smallest RTT so far. The initial value is R_m, as measured by the handshake."""


def first_least_rtt(R_m):
    return R_m


def next_least_rtt(least_rtt, rtt, rtt_end):
    return min(least_rtt, rtt, rtt_end)
