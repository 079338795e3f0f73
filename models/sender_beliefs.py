"""What a sender by a window believes of its path (section 5.1.1), as it works that out step by step.

Each in the language of controllers, of what such a sender observes; samples are of four steps at most, and nothing
times out. As elsewhere (models/beliefs), those of `link_rate` are true of a link that the sender has alone; those
of `beside_others` where others send as well (docs/flows.md).
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


#: Its last byte may have left a step before all that came with it.
_WAIT_LEAST = """\
def update(delay, D, step):
    wait_L = max(0, delay - D - step)
"""

#: Over how many steps others are told.
WINDOW = 8

#: Bytes that waited longer than jitter explains tell that nothing was wasted a step and D before. So in T steps of such
#: bytes at least C·(T - D - 1) are served, of which those that are not one's own are others'.
_OTHERS_LEAST = f"""\
others_L: rate = 0

def update(acked, delay, measured, time, C_L, R_m, D, step):
    others_busy_0 = measured and delay > D
{{busy}}
    others_told = time >= R_m + {WINDOW} * step and others_busy_{WINDOW - 2}
    others_least = C_L * ({WINDOW - 1} * step - D) - (acked - acked[{WINDOW} * step])
    others_L = max(0, others_least / ({WINDOW} * step)) if others_told else 0
""".format(
    busy="\n".join(
        f"    others_busy_{k} = others_busy_{k - 1} and measured[{k} * step] and delay[{k} * step] > D"
        for k in range(1, WINDOW - 1)
    )
)


@cache
def beside_others():
    """wait_L and others_L. A tuple."""
    return (
        SenderBelief("wait_L", TIME, "how long the last byte acknowledged waited beside others, at least", _WAIT_LEAST),
        SenderBelief("others_L", RATE, f"others were served in the last {WINDOW} steps, at least", _OTHERS_LEAST),
    )


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
