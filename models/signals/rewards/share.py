"""ccmatic's own reward, for one flow: the used share of the link, minus penalties for delay and loss.

The reward is throughput / capacity - (RTT / smallest RTT - 1) / 2 - 2 · loss rate. The delay counts up to 4 smallest
RTTs. Every term is relative to the path, so no link makes a term worthless: idling earns nothing, flooding pays for its
losses and its queue, and a full link without a queue earns 1.
"""


def reward(throughput, capacity, rtt, least_rtt, loss_rate):
    return throughput / capacity - min(rtt / least_rtt - 1, 4) / 2 - 2 * loss_rate
