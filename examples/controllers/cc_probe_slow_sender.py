"""cc_probe_slow as a sender with state: its beliefs C_Llambda and q_U are state variables.

C_Llambda is the largest (bytes sent in a step) / (step + D + step) for which the following holds. All bytes of the step
were acknowledged within two more steps. Meanwhile the sender detected no loss, and no first byte waited longer than
jitter explains. Beside other flows, C_Llambda remains a lower bound of the link rate, but q_U may be false
(docs/reference/flows.md).
"""

C_Llambda: rate = above(0)
q_U: bytes = anything()
calm: time = anything()  # the time without such a delay or a loss; values above three steps make no difference


def update(C_Llambda, q_U, calm, acked, sent, lost, time, R_m, D, step):
    if time >= R_m + D + 3 * step:
        if lost > lost[step] or (acked > acked[step] and acked[step] < sent[R_m + D + step] - lost):
            calm = 0
        else:
            calm = min(calm + step, 3 * step)
        if calm >= step and sent[R_m - step] - lost <= acked:
            C_Llambda = max(C_Llambda, (sent[R_m - step] - sent[R_m]) / (step + D + step))
        if calm >= 2 * step and sent[R_m] - lost <= acked:
            C_Llambda = max(C_Llambda, (sent[R_m] - sent[R_m + step]) / (step + D + step))
        if calm >= 3 * step and sent[R_m + step] - lost <= acked:
            C_Llambda = max(C_Llambda, (sent[R_m + step] - sent[R_m + 2 * step]) / (step + D + step))
    unacknowledged = sent[R_m - step] - lost - acked
    if time >= R_m + step:
        q_U = min(unacknowledged, max(0, q_U + sent[R_m - step] - sent[R_m] - C_Llambda * step))


def send(C_Llambda, q_U, MSS, R_m):
    if q_U > MSS:
        return max(C_Llambda - q_U / R_m, MSS / R_m)
    else:
        return 3 * C_Llambda + MSS / R_m
