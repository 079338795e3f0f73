"""Orca's observations, as Learn-to-Probe lists them (Table 1 of its paper).

Let H be the highest throughput so far. The observations are throughput / H; sending rate / H; lost bytes per second /
H; bytes in flight / (H · smallest RTT); and smallest RTT / smoothed RTT. All observations except the last are at most
10.
"""


def observe(throughput, sending_rate, lost, seconds, out, highest_throughput, least_rtt, smoothed_rtt, byte, second):
    highest = max(highest_throughput, byte / second)
    return [
        min(throughput / highest, 10),
        min(sending_rate / highest, 10),
        min(lost / seconds / highest, 10),
        min(out / (highest * least_rtt), 10),
        least_rtt / smoothed_rtt,
    ]
