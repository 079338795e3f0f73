"""Envelope: close around cc_qdel; 3/8 to 1/2 of C_L while bytes wait, otherwise 7/4 to 2 of C_L."""


def rate(C_L, qdel_L):
    if qdel_L > 0:
        return between(3 / 8 * C_L, C_L / 2)
    return between(7 / 4 * C_L, 2 * C_L)
