"""Contracts that may halve their rate with each step of delay, from an age of two steps to seven.

The holes are the highest level in packets per R_m, and the factor at each age: 1 or 1/2.
"""

from ccmatic.contracts import Sketch

TEMPLATE = Sketch(
    """
    level: bytes = between(top * MSS / 64, top * MSS)


    def update(acked, sent, lost, MSS, R_m, step):
        if acked + lost >= sent[R_m + step]:
            level = top * MSS
        elif acked + lost >= sent[R_m + 2 * step]:
            level = top * fall_2 * MSS
        elif acked + lost >= sent[R_m + 3 * step]:
            level = top * fall_2 * fall_3 * MSS
        elif acked + lost >= sent[R_m + 4 * step]:
            level = top * fall_2 * fall_3 * fall_4 * MSS
        elif acked + lost >= sent[R_m + 5 * step]:
            level = top * fall_2 * fall_3 * fall_4 * fall_5 * MSS
        elif acked + lost >= sent[R_m + 6 * step]:
            level = top * fall_2 * fall_3 * fall_4 * fall_5 * fall_6 * MSS
        else:
            level = top * fall_2 * fall_3 * fall_4 * fall_5 * fall_6 * fall_7 * MSS


    def send(level, R_m):
        return level / R_m
    """,
    {"top": (8, 16), **{f"fall_{age}": (1, "1/2") for age in range(2, 8)}},
)
