"""CUBIC where R_m is 20 ms: a cubic function of the time since the last decrease, or Reno if faster.

Like `cubic` (RFC 9438, sections 4.2 to 4.8, without slow start), with C = 0.4 packets/s³. The cube lies between chords
and lines 2/3 of a packet away, and its root between chords and tangents. This is proved up to 300·R_m on both sides of
K, and for decreases of up to 86 packets. Verdicts cover only executions within these limits. Times are in packets, one
per 10·R_m.
"""

C = 2 / 625

window: bytes = above(0)
window_max: bytes = above(0)  # W_max
reno: bytes = above(0)  # W_est, the window of Reno
since: bytes = between(0, 30 * MSS)  # the time since the last decrease
K: bytes = between(0, 30 * MSS)
recover: bytes = 0  # no other decrease until all bytes sent before the last one are acknowledged or lost


def update(window, window_max, reno, since, K, recover, acked, lost, sent, timeout, MSS, R_m, step):
    if timeout:
        window = MSS
        window_max = MSS
        reno = MSS
        since = 0
        K = 0
        recover = sent
    elif lost > lost[step] and acked + lost[step] >= recover:
        shrinks = window < window_max  # other flows need room: fast convergence
        window_max = 17 / 20 * window if shrinks else window
        window = 7 / 10 * window
        reno = window
        since = 0
        cube = (window_max - window) / C
        assume(0 <= cube <= 27000 * MSS)
        low = min(
            cube / 36,
            (cube + 960 * MSS) / 196,
            (cube + 3360 * MSS) / 436,
            (cube + 8064 * MSS) / 772,
            (cube + 14742 * MSS) / 1143,
            (cube + 22680 * MSS) / 1521,
            (cube + 33048 * MSS) / 1953,
            (cube + 46170 * MSS) / 2439,
        )
        high = min(
            (cube + 128 * MSS) / 48,
            (cube + 1024 * MSS) / 192,
            (cube + 3456 * MSS) / 432,
            (cube + 8192 * MSS) / 768,
            (cube + 16000 * MSS) / 1200,
            (cube + 24334 * MSS) / 1587,
            (cube + 35152 * MSS) / 2028,
            (cube + 48778 * MSS) / 2523,
        )
        K = bounded(MSS * cbrt(cube / MSS), low, high)
        recover = sent
    else:
        since = since + MSS * step / (10 * R_m)
        reno = reno + 9 / 17 * MSS * step / R_m
        d = since - K
        assume(-30 * MSS <= d <= 30 * MSS)
        if d >= 0:
            high = window_max + C * max(
                36 * d,
                196 * d - 960 * MSS,
                436 * d - 3360 * MSS,
                772 * d - 8064 * MSS,
                1143 * d - 14742 * MSS,
                1521 * d - 22680 * MSS,
                1953 * d - 33048 * MSS,
                2439 * d - 46170 * MSS,
            )
            low = high - 2 / 3 * MSS
        else:
            low = window_max + C * min(
                36 * d,
                196 * d + 960 * MSS,
                436 * d + 3360 * MSS,
                772 * d + 8064 * MSS,
                1143 * d + 14742 * MSS,
                1521 * d + 22680 * MSS,
                1953 * d + 33048 * MSS,
                2439 * d + 46170 * MSS,
            )
            high = low + 2 / 3 * MSS
        window = bounded(max(window_max + C * MSS * (d / MSS) ** 3, reno), max(low, reno), max(high, reno))


def send(window):
    return window
