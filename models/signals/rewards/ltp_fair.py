"""Learn-to-Probe's R_perf with its fairness term (Eqs. 12 and 14, with weight 1).

The fairness term is the standard deviation of the flows' throughput in the interval, divided by the sum of their
throughput. This reward subtracts the term. The paper adds the term, which would reward unequal shares. The paper also
averages throughput over a time that the paper does not state. An absent flow counts as a flow with throughput 0.
"""


def reward(relative_power, throughput_deviation, throughput_sum, byte, second):
    return relative_power - throughput_deviation / max(throughput_sum, byte / second)
