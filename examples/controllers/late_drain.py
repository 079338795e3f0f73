"""Wrong: cc_qdel that waits for a delay above 4·R_m before it drains, by when the queue is too long."""


def rate(C_L, qdel_L, R_m):
    if qdel_L > 4 * R_m:
        return C_L / 2
    else:
        return 2 * C_L
