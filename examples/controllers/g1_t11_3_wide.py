"""Envelope: around g1_t11_3; at most a packet per R_m while bytes wait, otherwise any rate from 7/4 to 2 of C_L."""


def rate(C_L, qdel_L, MSS, R_m):
    if qdel_L > 0:
        return between(0, MSS / R_m)
    return between(7 / 4 * C_L, 2 * C_L)
