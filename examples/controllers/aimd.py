"""AIMD as in CCAC: Reno without slow start, with at most one decrease for the losses of a window.

As published, it reads two quantities that no sender knows. `admitted` is the bytes sent less all bytes lost so far,
whether detected or not. `served` is acknowledged only R_m later.
"""

window: bytes = above(0)
recover: bytes = anything()  # after a decrease, no other until this is acknowledged
recovering: condition = False  # whether the window has decreased
since: bytes = anything()  # the service at which the count of a window's worth begins
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
