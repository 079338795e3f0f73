"""wait_L and others_L: a window sender's beliefs about other flows on its path (docs/reference/flows.md).

The programs of both beliefs are in the language of controllers. They read the sender's own observations in each step.
"""

from ccmatic.contracts import RATE, TIME, SenderBelief

#: The last byte of the sender may have left up to one step before the other bytes that arrived with it.
_WAIT_LEAST = """\
def update(delay, D, step):
    wait_L = max(0, delay - D - step)
"""

#: The number of steps in which the sender estimates the rate of the other flows.
WINDOW = 8

#: Suppose that bytes waited longer than jitter explains. Then the link wasted no capacity since D + 1 steps earlier. So
#: the link serves at least C·(T - D - 1) bytes in T steps of this kind. If the sender did not send some of these bytes,
#: they belong to other flows. The f-string leaves {busy} open; `format` then fills it with one line per step.
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
