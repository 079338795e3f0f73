"""CCAC's AIMD as it is at any step of its life, not at its first alone: what it remembers may be anything at first.

It does as aimd.py from that one's third step on. What was acknowledged a step ago it remembers itself, so that no test is
put off until it has been observed: there a loss in the first two steps halves the window even in recovery. And the end of
recovery is never beyond what it could have been set to, so that from whatever it was at first it comes true.
"""

window: bytes = above(0)
recover: bytes = anything()  # the window is not halved again until this is acknowledged …
recovering: condition = anything()  # … if it was halved at all
acked_before: bytes = anything()
since: bytes = anything()  # where the count of a window's worth of service begins
changed: condition = anything()


def update(window, recover, recovering, acked_before, since, changed, served, acked, lost, admitted, timeout, MSS, step):
    before = window
    a_window_served = served - since >= window
    recover = min(recover, admitted + 3 * MSS)
    if timeout:
        window = MSS
        recover = admitted + 3 * MSS
        recovering = True
    elif lost > lost[step] and (not recovering or recover <= min(acked_before, acked)):
        window = window / 2
        recover = admitted + 3 * MSS
        recovering = True
    elif a_window_served:
        window = window + MSS
    acked_before = acked
    if changed or window != before:
        since = served
    changed = window != before


def send(window, line_rate):
    return window, line_rate
