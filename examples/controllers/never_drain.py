"""Wrong: on delay it falls back to the proven rate but not below it, so a standing queue stays."""


def rate(C_L, qdel_L):
    if qdel_L > 0:
        return max(C_L, C_L / 2)
    else:
        return 2 * C_L
