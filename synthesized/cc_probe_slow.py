"""cc_probe_slow, CCA4 of the paper's Listing 2, found by query G6 of its Table 2.

The discrete model measures delay to one step only, so 3·C_Llambda stands where the paper's continuous
formula has 2·C_Llambda. Deployed, it runs cc_qdel until a large loss (section 6.4).
"""

start = "cc_qdel"


def rate(C_Llambda, q_U, R_m, MSS):
    if q_U > MSS:
        return C_Llambda - q_U / R_m
    else:
        return 3 * C_Llambda + MSS / R_m
