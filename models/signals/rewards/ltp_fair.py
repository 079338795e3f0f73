"""Learn-to-Probe's R_perf with its fairness term (Eqs. 12 and 14, of weight 1).

The term is the standard deviation of the flows' throughput in the interval, over their sum. We subtract it; the paper
adds it, which would reward unequal shares, and averages throughput over a time that it does not state. A flow that is
not there counts as one whose throughput is 0.
"""


def reward(relative_power, throughput_deviation, throughput_sum, byte, second):
    return relative_power - throughput_deviation / max(throughput_sum, byte / second)
