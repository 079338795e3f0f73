"""Custard's linear reward without a scale, as Ghermezian et al. normalise theirs (Eq. 2, section 2.5).

Ratio of the throughput to that of the interval before, at most 10, less RTT over the least RTT, less 3 · loss rate.
These weights are about Custard's on its links of 32 Mbit/s and 32 ms.
"""


def reward(throughput, throughput_before, rtt, least_rtt, loss_rate, byte, second):
    growth = min(throughput / max(throughput_before, byte / second), 10)
    return growth - rtt / least_rtt - 3 * loss_rate
