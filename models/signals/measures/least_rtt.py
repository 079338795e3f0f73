"""The smallest RTT so far; initially R_m, which a handshake measures."""


def first_least_rtt(R_m):
    return R_m


def next_least_rtt(least_rtt, rtt, rtt_end):
    return min(least_rtt, rtt, rtt_end)
