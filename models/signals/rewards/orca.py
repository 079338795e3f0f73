"""Orca's reward as CCLab states it (Eqs. 1 and 2 of its paper): (throughput - losses) / highest throughput.

The reward is multiplied by margin · smallest RTT / smoothed RTT if this product is less than 1. CCLab gives no margin;
we chose 1.25.

Warning: a sender that idles at 5 % of the link from its start on earns 0.93 to 1.00, and the oracle earns 1.00.
"""


def reward(penalised_throughput, highest_throughput, least_rtt, smoothed_rtt, byte, second):
    share = penalised_throughput / max(highest_throughput, byte / second)
    return share * min(1, 1.25 * least_rtt / smoothed_rtt)
