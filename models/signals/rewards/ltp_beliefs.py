"""As `ltp_particles`, of the widths of beliefs: of the queueing delay, and of C.

The width of C is that of the own share, as the own rate is known. Beliefs say nothing of other flows' rates.
"""


def reward(relative_power, qdel_L, qdel_U, C_L, C_U, second):
    own = min(max(log(C_U / C_L), 0), 10)
    return relative_power - 0.2 * (10 * (qdel_U - qdel_L) / second + 0.2 * own)
