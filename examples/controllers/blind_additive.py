"""Wrong: sends a packet more each R_m than what last went without loss, and never drains the queue (section 6.2).

C_Llambda is what was sent in an R_m, over T* + D + 1 = 3 R_m: so three times it is the rate last sent.
"""


def rate(C_Llambda, R_m, MSS):
    return 3 * C_Llambda + MSS / R_m
