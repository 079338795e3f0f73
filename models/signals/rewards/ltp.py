"""Learn-to-Probe's R_perf (Eqs. 12 and 13 of its paper) for one flow, without a fairness term."""


def reward(relative_power):
    return relative_power
