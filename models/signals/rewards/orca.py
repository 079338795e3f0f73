"""Orca's, as CCLab has it (its Eqs. 1 and 2): throughput less losses, over the highest throughput.

It is multiplied by margin · least RTT / smoothed RTT where that is less than 1. CCLab states no margin; 1.25 is ours.
"""


def reward(penalised_throughput, highest_throughput, least_rtt, smoothed_rtt, byte, second):
    share = penalised_throughput / max(highest_throughput, byte / second)
    return share * min(1, 1.25 * least_rtt / smoothed_rtt)
