"""TCP-Illinois: adds ten packets per R_m on an empty queue and fewer as delay grows, and decreases more as delay grows.

S. Liu, T. Başar, R. Srikant, "TCP-Illinois: A Loss- and Delay-Based Congestion Control Algorithm for High-Speed
Networks", Performance Evaluation 65, 2008, section 3, with Linux's numbers. The largest observed delay is fixed at
4·R_m here. The increase is a quotient with the delay in its divisor. A delay of k whole steps is longer than k - 1
steps and shorter than k + 1; the increase lies between its values there. Solvers may choose any decrease from an eighth
(on an empty queue) to a half.
"""

window: bytes = above(0)
recover: bytes = 0  # no other decrease until all bytes sent before the last one are acknowledged or lost


def update(window, recover, delay, acked, lost, sent, timeout, MSS, R_m, step):
    most = 4 * R_m
    packet = MSS * step / R_m
    if timeout:
        window = MSS
        recover = sent
    elif lost > lost[step] and acked + lost[step] >= recover:
        least = max(MSS, window / 2)
        largest = max(MSS, 7 / 8 * window)
        if delay >= 0 * R_m:
            decrease = 1 / 8 + 3 / 8 * (delay - most / 10) / (7 / 10 * most)
            window = bounded(max(MSS, window * (1 - max(1 / 8, min(1 / 2, decrease)))), least, largest)
        else:
            window = between(least, largest)
        recover = sent
    elif delay >= 0 * R_m:
        high = 10 if delay <= R_m else 8 / 7 if delay <= 2 * R_m else 3 / 5 if delay <= 3 * R_m else 2 / 5
        low = 9 / 8 if delay <= 0 * R_m else 4 / 7 if delay <= R_m else 3 / 8 if delay <= 2 * R_m else 3 / 10
        beyond = (delay - most / 100) / (99 / 100 * most)
        window = bounded(
            window + packet * max(3 / 10, min(10, 10 / (1 + 97 / 3 * beyond))),
            window + packet * low,
            window + packet * high,
        )
    else:
        window = between(window + 3 / 10 * packet, window + 10 * packet)


def send(window):
    return window
