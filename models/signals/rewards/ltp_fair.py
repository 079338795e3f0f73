"""Learn-to-Probe's R_perf with its fairness term (Eqs. 12 and 14, with weight 1).

The term is the standard deviation of the flows' throughput in the interval, divided by their sum. We subtract the term.
The paper adds it, which would reward unequal shares; it also averages throughput over an unstated time. An absent flow
counts as a flow with throughput 0.
"""


def reward(relative_power, throughput_deviation, throughput_sum, byte, second):
    return relative_power - throughput_deviation / max(throughput_sum, byte / second)
