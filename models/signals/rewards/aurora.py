"""Aurora's reward (ICML 2019, section 4.2): 10 · throughput (packets/s) - 1000 · latency (s) - 2000 · loss rate.

The reward is then divided by 1000, as in Aurora's simulator. Packets have 1500 bytes.

Warning: a sender at twice the link's rate, which loses 50 % of its bytes, earns 95 % of the oracle's margin over a
sender that idles at 5 % of the link.
"""


def reward(throughput, rtt, loss_rate, byte, second):
    return (10 * throughput / (1500 * byte / second) - 1000 * rtt / second - 2000 * loss_rate) / 1000
