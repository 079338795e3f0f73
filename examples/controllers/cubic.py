"""CUBIC: a cube of the time since the last decrease, flat around the window at which losses were; or Reno, if faster.

RFC 9438, sections 4.2 to 4.8, without slow start; C is 0.4 packets/R_m³, which is the RFC's where R_m is a second. The
cube and its root lie between chords and tangents, which are proved to bound them, up to 8·R_m on both sides of K and
for K up to 4·R_m; what is verified is of executions within that. Times are in packets, one for an R_m.
"""

C = 2 / 5

window: bytes = above(0)
window_max: bytes = above(0)  # W_max
reno: bytes = above(0)  # W_est, what Reno would have
since: bytes = between(0, 8 * MSS)  # the last decrease
K: bytes = between(0, 4 * MSS)
recover: bytes = 0  # no other decrease until what was sent by the last one is acknowledged or lost


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
        assume(0 <= cube <= 64 * MSS)
        low = min(cube, (cube + 6 * MSS) / 7, (cube + 30 * MSS) / 19, (cube + 84 * MSS) / 37)
        high = min((4 * cube + MSS) / 3, (cube + 2 * MSS) / 3, (cube + 16 * MSS) / 12, (cube + 54 * MSS) / 27)
        K = bounded(MSS * cbrt(cube / MSS), low, high)
        recover = sent
    else:
        since = since + MSS * step / R_m
        reno = reno + 9 / 17 * MSS * step / R_m
        d = since - K
        assume(-8 * MSS <= d <= 8 * MSS)
        away = max(d, -d)
        chords = max(away, 7 * away - 6 * MSS, 28 * away - 48 * MSS, 112 * away - 384 * MSS)
        tangents = max(0, 3 * away - 2 * MSS, 12 * away - 16 * MSS, 48 * away - 128 * MSS)
        low = window_max + C * (tangents if d >= 0 else -chords)
        high = window_max + C * (chords if d >= 0 else -tangents)
        window = bounded(max(window_max + C * MSS * (d / MSS) ** 3, reno), max(low, reno), max(high, reno))


def send(window):
    return window
