"""A contract: a step function from delay to rate, which falls by half for each two steps of delay.

The delay is the age, beyond R_m, of the oldest byte that is not acknowledged, so it cannot become stale. The rates are
16, 8, 4, 2 and 1 packets per R_m. The literature calls such a function a contract. proofs/contract.py proves how two
of these senders share a link that carries 5/2 to 30 packets per R_m.
"""

level: bytes = between(MSS, 16 * MSS)  # sent per R_m


def update(acked, sent, lost, MSS, R_m, step):
    if acked + lost >= sent[R_m + step]:
        level = 16 * MSS
    elif acked + lost >= sent[R_m + 3 * step]:
        level = 8 * MSS
    elif acked + lost >= sent[R_m + 5 * step]:
        level = 4 * MSS
    elif acked + lost >= sent[R_m + 7 * step]:
        level = 2 * MSS
    else:
        level = MSS


def send(level, R_m):
    return level / R_m
