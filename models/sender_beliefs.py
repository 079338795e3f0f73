"""What a sender by a window believes of its path (section 5.1.1), as it works that out step by step.

Each in the language of controllers, of what such a sender observes; samples are of four steps at most, and nothing
times out. As elsewhere (models/link_rate.py), they are true of a link that the sender has alone; docs/flows.md says
which stay true where others send.
"""

from functools import cache

from ccmatic.contracts import RATE, TIME, SenderBelief

#: Eq. 5.2: at most C·(T + D) bytes are acknowledged in T steps.
_MOST_SERVED = """\
C_L: rate = between(MSS / R_m, line_rate)

def update(C_L, acked, time, R_m, D, step):
    C_L = max(
        C_L,
        (acked - acked[step]) / (step + D) if time >= R_m + step else C_L,
        (acked - acked[2 * step]) / (2 * step + D) if time >= R_m + 2 * step else C_L,
        (acked - acked[3 * step]) / (3 * step + D) if time >= R_m + 3 * step else C_L,
        (acked - acked[4 * step]) / (4 * step + D) if time >= R_m + 4 * step else C_L,
    )
"""

#: Eq. 5.2: at least C·(T - D) in T steps in each of which bytes are acknowledged, the last of which waited longer than
#: jitter explains, as long as bytes were sent meanwhile: else the queue may have just ended. In which step lost bytes
#: were lost their sender cannot tell.
_LEAST_SERVED = """\
C_U: rate = between(MSS / R_m, line_rate)

def update(C_U, acked, delay, measured, sent, time, R_m, D, step):
    C_U_sends_1 = sent[R_m + D - step] > sent[R_m + D]
    C_U_busy_1 = C_U_sends_1 and measured and delay > D
    C_U_sends_2 = sent[R_m + D] > sent[R_m + D + step]
    C_U_busy_2 = C_U_busy_1 and C_U_sends_2 and measured[step] and delay[step] > D
    C_U_sends_3 = sent[R_m + D + step] > sent[R_m + D + 2 * step]
    C_U_busy_3 = C_U_busy_2 and C_U_sends_3 and measured[2 * step] and delay[2 * step] > D
    C_U_sends_4 = sent[R_m + D + 2 * step] > sent[R_m + D + 3 * step]
    C_U_busy_4 = C_U_busy_3 and C_U_sends_4 and measured[3 * step] and delay[3 * step] > D
    C_U_known_1 = time >= R_m + D + step and D < step
    C_U_known_2 = time >= R_m + D + 2 * step and D < 2 * step
    C_U_known_3 = time >= R_m + D + 3 * step and D < 3 * step
    C_U_known_4 = time >= R_m + D + 4 * step and D < 4 * step
    C_U = min(
        C_U,
        ((acked - acked[step]) / (step - D) if C_U_busy_1 else C_U) if C_U_known_1 else C_U,
        ((acked - acked[2 * step]) / (2 * step - D) if C_U_busy_2 else C_U) if C_U_known_2 else C_U,
        ((acked - acked[3 * step]) / (3 * step - D) if C_U_busy_3 else C_U) if C_U_known_3 else C_U,
        ((acked - acked[4 * step]) / (4 * step - D) if C_U_busy_4 else C_U) if C_U_known_4 else C_U,
    )
"""

#: Eq. 5.1. A delay is one of whole steps, up to one too few.
_DELAY_LEAST = """\
def update(delay, D):
    qdel_L = max(0, delay - D)
"""
_DELAY_MOST = """\
def update(delay, step):
    qdel_U = delay + step
"""


@cache
def link_rate(measured):
    """C_L; where delays are measured C_U, qdel_L and qdel_U as well. A tuple."""
    low = SenderBelief(
        "C_L", RATE, "the link rate, at least", _MOST_SERVED, holds=lambda flow, t, rate: rate <= flow.network.C
    )
    if not measured:
        return (low,)
    return (
        low,
        SenderBelief(
            "C_U",
            RATE,
            "the link rate, at most",
            _LEAST_SERVED,
            holds=lambda flow, t, rate: rate >= flow.network.C,
            upper=True,
        ),
        SenderBelief("qdel_L", TIME, "how long the last byte acknowledged waited in a queue, at least", _DELAY_LEAST),
        SenderBelief("qdel_U", TIME, "the same, at most", _DELAY_MOST),
    )
