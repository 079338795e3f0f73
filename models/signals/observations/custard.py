"""Custard's statistics (i) to (vi) (Jay et al., 2018, section 2.2).

Sending rate and throughput (100 Mbit/s), loss rate, mean RTT (100 ms), latency gradient (s/s), reward (100). The paper
names no units; these are ours.
"""


def observe(sending_rate, throughput, loss_rate, rtt, gradient, reward, mbit, second):
    return [sending_rate / mbit / 100, throughput / mbit / 100, loss_rate, rtt / second * 10, gradient, reward / 100]
