"""cc_qdel, CCA1 of the paper's Listing 2, found by query G1 of its Table 2."""


def rate(C_L, qdel_L):
    if qdel_L > 0:
        return C_L / 2
    else:
        return 2 * C_L
