"""Wrong: cc_qdel that drains only at delays above 4·R_m, when the queue is already too long."""


def rate(C_L, qdel_L, R_m):
    if qdel_L > 4 * R_m:
        return C_L / 2
    else:
        return 2 * C_L
