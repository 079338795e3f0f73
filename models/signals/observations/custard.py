"""Custard's statistics (i) to (vi) (Jay et al., 2018, section 2.2).

The statistics are: sending rate and throughput (in units of 100 Mbit/s), loss rate, mean RTT (in units of 100 ms),
latency gradient (s/s), and reward / 100. The paper gives no units; we chose these units.
"""


def observe(sending_rate, throughput, loss_rate, rtt, gradient, reward, mbit, second):
    return [sending_rate / mbit / 100, throughput / mbit / 100, loss_rate, rtt / second * 10, gradient, reward / 100]
