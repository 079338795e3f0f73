"""Proofs about first steps of an AIMD, for tests that join them."""

import ccmatic as cm

#: AIMD's losses are detected a step later; ten packets are C·R_m.
NETWORK = (
    "ccac2021 {} mbit, detection=oracle, timer=executions, loss=deterministic, begins=anywhere, delay=none, "
    "rtt 10 ms, buffer {} bdp, jitter 10 ms"
)
TENTH = NETWORK.format(12, 1)

#: An AIMD without memory.
HALVES = """\
window: bytes = above(0)

def update(window, lost, MSS, step):
    if lost > lost[step]:
        window = window / 2
    else:
        window = window + MSS

def send(window, line_rate):
    return window, line_rate
"""

#: A controller that adds a packet for three steps only, by a state that begins at 0.
BY_STATE = """\
window: bytes = above(0)
waited: time = 0

def update(window, waited, MSS, R_m, step):
    waited = min(waited + step, 5 * R_m)
    window = window + MSS if waited <= 3 * R_m else MSS

def send(window, line_rate):
    return window, line_rate
"""

BIG, SMALL = "queue <= 2 bdp and window <= 8 bdp", "queue <= 2 bdp and window <= 4 bdp"


def proved(controller, expect, start, on=TENTH):
    decided = cm.prove_by_invariant(controller, on, expect, start=start)
    assert decided.verdict == "proved", decided.why
    return decided
