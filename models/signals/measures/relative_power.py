"""Learn-to-Probe's R_perf of one flow (Eqs. 12 and 13 of its paper): power relative to a full link without a queue.

An RTT of up to 1.15 times the smallest RTT counts as the smallest RTT (Table 4). The paper divides by thr_max, the
highest throughput that the sender observed. With this divisor, a sender that never sends more than now would receive
the highest reward. So our divisor is the link's capacity.
"""


def relative_power(penalised_throughput, capacity, rtt, least_rtt):
    return penalised_throughput / capacity * least_rtt / (least_rtt if rtt <= 1.15 * least_rtt else rtt)
