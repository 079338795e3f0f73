"""Aurora's reward (ICML 2019, section 4.2): 10 · throughput (packets/s) - 1000 · latency (s) - 2000 · loss rate.

The reward is then divided by 1000, as in Aurora's simulator. Packets have 1500 bytes.
"""


def reward(throughput, rtt, loss_rate, byte, second):
    return (10 * throughput / (1500 * byte / second) - 1000 * rtt / second - 2000 * loss_rate) / 1000
