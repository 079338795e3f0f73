"""Custard's linear reward (section 3.3): throughput (Mbit/s) - RTT (ms) - 100 · loss rate.

As the paper says, one Mbit/s is worth one millisecond or a loss of 1 %. (It prints the formula with 10^8.)
"""


def reward(throughput, rtt, loss_rate, mbit, second):
    return throughput / mbit - rtt / second * 1000 - 100 * loss_rate
