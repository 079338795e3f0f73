"""Reno: slow start, then a packet more for each window acknowledged; half for a loss, once for what was sent by then.

RFC 5681 and 6582, as the kernel's `reno` does it, but once a step; it reads nothing but what its sender knows.
"""

window: bytes = above(0)
threshold: bytes = above(0)  # ssthresh
searching: condition = True  # no loss was found yet, so there is no threshold
credit: bytes = 0  # acknowledged since the window last grew
recover: bytes = 0  # not halved again until what was sent by the last time, and three packets, is acknowledged or lost


def update(window, threshold, searching, credit, recover, acked, lost, sent, timeout, MSS, step):
    more = acked - acked[step]
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
