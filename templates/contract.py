"""Contracts of five levels: the rate falls by a factor for each band of delay.

The holes are the highest level in packets per R_m, the factor between two levels, and the steps of a band. A sender's
delay is the age, beyond R_m, of the oldest byte that is not acknowledged.
"""

from ccmatic.contracts import Sketch

TEMPLATE = Sketch(
    """
    level: bytes = between(MSS, top * MSS)


    def update(acked, sent, lost, MSS, R_m, step):
        if acked + lost >= sent[R_m + (band - 1) * step]:
            level = top * MSS
        elif acked + lost >= sent[R_m + (2 * band - 1) * step]:
            level = top * factor * MSS
        elif acked + lost >= sent[R_m + (3 * band - 1) * step]:
            level = top * factor * factor * MSS
        elif acked + lost >= sent[R_m + (4 * band - 1) * step]:
            level = top * factor * factor * factor * MSS
        else:
            level = top * factor * factor * factor * factor * MSS


    def send(level, R_m):
        return level / R_m
    """,
    {"top": (8, 16, 24), "factor": ("1/3", "2/5", "1/2", "2/3"), "band": (1, 2, 3)},
)
