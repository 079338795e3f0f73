"""Wrong: adds a packet per R_m to the last rate without loss, and never drains the queue (section 6.2).

C_Llambda is the bytes sent in an R_m, divided by T* + D + 1 = 3 R_m. So 3·C_Llambda is the last rate.
"""


def rate(C_Llambda, R_m, MSS):
    return 3 * C_Llambda + MSS / R_m
