"""cc_probe_qdel, CCA5 of the paper's Listing 2, found by query G7 of its Table 2."""


def rate(C_L, C_U, qdel_L, R_m, MSS):
    if C_U < 3 / 2 * C_L:
        if qdel_L > R_m:
            return MSS / R_m
        else:
            return C_L
    else:
        if C_U > 2 * C_L:
            return 2 * C_L + MSS / R_m
        else:
            return C_L
