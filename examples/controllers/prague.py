"""A sender like TCP Prague (RFC 9330): each byte that is acknowledged with a mark shrinks the window by half a byte.

In the long run this is the response of RFC 9330's scalable controllers, two marks per round trip and window. Prague
itself averages the marked share as DCTCP does, and spreads its decrease over a round trip. This file has neither, no
independence of the round trip and no other response to classic queues. It grows by a packet per window of bytes that
are acknowledged without a mark. Slow start ends at the first mark or loss, and losses are as in Reno.
"""

window: bytes = above(0)
searching: condition = True  # slow start: no mark and no loss so far
credit: bytes = 0  # bytes acknowledged without a mark since the window last grew
recover: bytes = 0  # no other decrease for losses until these bytes are acknowledged or lost


def update(window, searching, credit, recover, acked, marked, lost, sent, timeout, MSS, step):
    marks = marked - marked[step]
    more = acked - acked[step] - marks
    if timeout:
        window = MSS
        searching = False
        credit = 0
        recover = sent + 3 * MSS
    elif lost > lost[step] and acked[step] + lost[step] >= recover:
        window = max(window / 2, 2 * MSS)
        searching = False
        credit = 0
        recover = sent + 3 * MSS
    elif marks > 0:
        window = max(window - marks / 2, 2 * MSS)
        searching = False
        credit = 0
    elif searching:
        window = window + more
    elif credit + more >= window:
        credit = credit + more - window
        window = window + MSS
    else:
        credit = credit + more


def send(window):
    return window
