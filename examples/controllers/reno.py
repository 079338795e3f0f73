"""Reno: slow start, then one packet per window of acknowledgements; halves its window on a loss, once per flight.

RFC 5681 and 6582, as in the kernel's `reno`, but once per step. It reads only values that its sender knows.
"""

window: bytes = above(0)
threshold: bytes = above(0)  # ssthresh
searching: condition = True  # no loss was detected yet, so there is no threshold
credit: bytes = 0  # acknowledgements since the window last grew
recover: bytes = 0  # no other decrease until the bytes sent before the last one, and 3 packets, are acknowledged or lost


def update(window, threshold, searching, credit, recover, acked, lost, sent, timeout, app_limited, MSS, step):
    more = 0 if app_limited else acked - acked[step]
    if timeout:
        threshold = max(window / 2, 2 * MSS)
        window = MSS
        searching = False
        credit = 0
        recover = sent + 3 * MSS
    elif lost > lost[step] and acked[step] + lost[step] >= recover:
        threshold = max(window / 2, 2 * MSS)
        window = threshold
        searching = False
        credit = 0
        recover = sent + 3 * MSS
    elif acked + lost < recover:
        credit = 0
    elif searching:
        window = window + more
    elif window < threshold:
        window = min(window + more, threshold)
    elif credit + more >= window:
        credit = credit + more - window
        window = window + MSS
    else:
        credit = credit + more


def send(window):
    return window
