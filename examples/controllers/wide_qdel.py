"""Envelope: around cc_qdel; any rate up to half of C_L while bytes wait, otherwise any from 5/4 to 2 of C_L."""


def rate(C_L, qdel_L):
    if qdel_L > 0:
        return between(0, C_L / 2)
    return between(5 / 4 * C_L, 2 * C_L)
