"""AIMD as CCAC has it: Reno without slow start, at most one decrease for the losses of a window.

It reads what no sender knows, as published: `admitted`, bytes sent less those lost so far, found or not; and `served`,
which is acknowledged only R_m later.
"""

window: bytes = above(0)
recover: bytes = anything()  # the window is not halved again until this is acknowledged …
recovering: condition = False  # … if it was halved at all
since: bytes = anything()  # where the count of a window's worth of service begins
changed: condition = True


def update(window, recover, recovering, since, changed, served, acked, lost, admitted, timeout, time, MSS, R_m, step):
    before = window
    a_window_served = served - since >= window
    if timeout:
        window = MSS
        recover = admitted + 3 * MSS
        recovering = True
    elif lost > lost[step] and (not recovering or time <= R_m + step or recover <= acked[step]):
        window = window / 2
        recover = admitted + 3 * MSS
        recovering = True
    elif a_window_served:
        window = window + MSS
    if changed or window != before:
        since = served
    changed = window != before


def send(window, line_rate):
    return window, line_rate
