"""Learn-to-Probe's R_perf (its Eqs. 12 and 13) of one flow, so without its fairness term."""


def reward(relative_power):
    return relative_power
