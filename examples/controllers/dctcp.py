"""DCTCP (RFC 8257) in a few levels: the more of a window's bytes are marked, the more it shrinks.

The mean `alpha` of the marked share has the RFC's gain of 1/16. Two products of the RFC are not linear, and this file
rounds both to quarters. The share of a window counts as the nearest of 0, 1/4, 1/2, 3/4 and 1. The decrease by alpha/2
takes the nearest quarter of alpha; below 1/8, it takes 1/16. Each window of data ends once all bytes sent before it
are acknowledged or lost. Slow start ends at the first mark or loss, and losses are as in Reno.
"""

window: bytes = above(0)
searching: condition = True  # slow start: no mark and no loss so far
alpha: number = 1
until: bytes = 0  # the window of data ends when these bytes are acknowledged or lost
acked_first: bytes = 0  # as the window of data began
marked_first: bytes = 0
recover: bytes = 0  # no other decrease for losses until these bytes are acknowledged or lost


def update(
    window, searching, alpha, until, acked_first, marked_first, recover, acked, marked, lost, sent, timeout, MSS, step
):
    ended = acked + lost >= until
    seen = acked - acked_first
    marks = marked - marked_first
    if ended:
        alpha = 15 / 16 * alpha
        if 8 * marks >= 7 * seen and marks > 0:
            alpha = alpha + 1 / 16
        elif 8 * marks >= 5 * seen and marks > 0:
            alpha = alpha + 3 / 64
        elif 8 * marks >= 3 * seen and marks > 0:
            alpha = alpha + 1 / 32
        elif 8 * marks >= seen and marks > 0:
            alpha = alpha + 1 / 64
    if timeout:
        window = MSS
        searching = False
        recover = sent + 3 * MSS
    elif lost > lost[step] and acked[step] + lost[step] >= recover:
        window = max(window / 2, 2 * MSS)
        searching = False
        recover = sent + 3 * MSS
    elif ended and marks > 0:
        searching = False
        if alpha >= 7 / 8:
            window = max(1 / 2 * window, 2 * MSS)
        elif alpha >= 5 / 8:
            window = max(5 / 8 * window, 2 * MSS)
        elif alpha >= 3 / 8:
            window = max(3 / 4 * window, 2 * MSS)
        elif alpha >= 1 / 8:
            window = max(7 / 8 * window, 2 * MSS)
        else:
            window = max(31 / 32 * window, 2 * MSS)
    elif searching:
        window = window + acked - acked[step]
    elif ended:
        window = window + MSS
    if ended:
        until = sent
        acked_first = acked
        marked_first = marked


def send(window):
    return window
