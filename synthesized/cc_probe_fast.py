"""cc_probe_fast, CCA2 of the paper's Listing 2, found by query G2 of its Table 2."""


def rate(C_L, C_U):
    if C_U < 2 * C_L:
        return C_L
    else:
        return 2 * C_L
