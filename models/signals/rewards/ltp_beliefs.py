"""The reward of `ltp_particles`, with widths that come from beliefs instead of particles.

The beliefs bound the queueing delay and C. A width is the upper bound minus the lower bound; for C, it is the
difference of their logarithms. The flow knows its own rate, so the width of C also stands for the width of the flow's
share of the link. No belief covers the rates of other flows.
"""


def reward(relative_power, qdel_L, qdel_U, C_L, C_U, second):
    own = min(max(log(C_U / C_L), 0), 10)
    return relative_power - 0.2 * (10 * (qdel_U - qdel_L) / second + 0.2 * own)
