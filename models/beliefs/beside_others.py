"""wait_L and others_L: what a sender by a window believes of others on its path (docs/flows.md).

They are in the language of controllers, of what such a sender observes, step by step.
"""

from ccmatic.contracts import RATE, TIME, SenderBelief

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


BESIDE_OTHERS = (
    SenderBelief("wait_L", TIME, "how long the last byte acknowledged waited beside others, at least", _WAIT_LEAST),
    SenderBelief("others_L", RATE, f"others were served in the last {WINDOW} steps, at least", _OTHERS_LEAST),
)
