"""Orca's, as Learn-to-Probe has them (its Table 1).

Throughput, sending rate and loss over the highest throughput so far; bytes in flight over that times the least RTT;
least RTT over the smoothed RTT. All but the last are at most 10.
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
