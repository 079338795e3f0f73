"""Learn-to-Probe's R_perf (its Eqs. 12 and 13) of one flow, for which there is no fairness term."""


def reward(relative_power):
    return relative_power
