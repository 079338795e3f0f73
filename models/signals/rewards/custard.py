"""Custard's linear reward (section 3.3): throughput (Mbit/s) - RTT (ms) - 100 · loss rate.

In the paper's words, one Mbit/s is worth one millisecond or a loss of 1 %. (The paper prints 10^8 instead of 100.)
"""


def reward(throughput, rtt, loss_rate, mbit, second):
    return throughput / mbit - rtt / second * 1000 - 100 * loss_rate
