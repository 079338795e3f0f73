"""Learn-to-Probe's complete reward of one flow (Eqs. 9 to 11 and 15): R_perf minus the widths of its particles.

The weights are those of Table 4, except β_r: we set it to 0, because a constant reward changes no advantage.
"""


def reward(relative_power, delay_width, own_width, others_width, second):
    return relative_power - 0.2 * (10 * delay_width / second + 0.2 * own_width + 0.2 * others_width)
