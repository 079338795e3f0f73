"""cc_probe_drain, CCA3 of the paper's Listing 2, found by query G3 of its Table 2."""


def rate(C_L, C_U, R_m, MSS):
    if C_U > 2 * C_L - 2 * MSS / R_m:
        return 2 * C_L + MSS / R_m
    else:
        return C_L - MSS / R_m
