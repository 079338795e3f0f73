"""Wrong: cc_qdel with its branches swapped, so it speeds up on delay and slows down without."""


def rate(C_L, qdel_L):
    if qdel_L > 0:
        return 2 * C_L
    else:
        return C_L / 2
