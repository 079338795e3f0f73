"""Learn-to-Probe's R_perf of one flow (its Eqs. 12 and 13): power over that of a full link without a queue.

An RTT of up to 1.15 times the least counts as the least (Table 4). The paper divides by thr_max, the highest
throughput that the sender observed: then a sender that never sends more would gain as much. Here it is the capacity.
"""


def relative_power(penalised_throughput, capacity, rtt, least_rtt):
    return penalised_throughput / capacity * least_rtt / (least_rtt if rtt <= 1.15 * least_rtt else rtt)
