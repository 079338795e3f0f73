"""CCAC's AIMD at any step of its life: its state may have any initial values.

From the third step of aimd.py on, the two behave alike. This controller stores the acknowledgements of the previous
step itself, so no test waits for them. In aimd.py, a loss in the first two steps halves the window even in recovery.
Here the end of recovery is never beyond the largest value that aimd.py can set, so that any initial value becomes
valid.
"""

window: bytes = above(0)
recover: bytes = anything()  # after a decrease, no other until this is acknowledged
recovering: condition = anything()  # whether the window has decreased
acked_before: bytes = anything()
since: bytes = anything()  # the service at which the count of a window's worth begins
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
