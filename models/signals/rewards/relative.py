"""Custard's linear reward without scale: ratios to the last interval, as in Ghermezian et al. (Eq. 2, section 2.5).

The reward is min(throughput / previous interval's throughput, 10) - RTT / smallest RTT - 3 · loss rate. These weights
are close to Custard's weights for Custard's own links of 32 Mbit/s and 32 ms.

Warning: a sender that alternates between two rates, and uses 13 to 29 % of the link, earns more than the oracle.
"""


def reward(throughput, throughput_before, rtt, least_rtt, loss_rate, byte, second):
    growth = min(throughput / max(throughput_before, byte / second), 10)
    return growth - rtt / least_rtt - 3 * loss_rate
