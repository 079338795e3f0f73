"""CUBIC: a cubic function of the time since the last decrease, flat near the window of that loss; or Reno if faster.

RFC 9438, sections 4.2 to 4.8 and 4.10, without HyStart. C is 0.4 packets/s³. Solvers assume that a second is an R_m; an
exported sender measures a second. Chords and tangents bound the cube and its root. This is proved up to 8·R_m on both
sides of K, and for K up to 4·R_m. Verdicts cover only executions within these limits; an exported sender follows the
law everywhere. A time is stored as packets, one per R_m.
"""

C = 2 / 5
BETA = 7 / 10  # the part of the window that is left after a loss

window: bytes = above(0)
window_max: bytes = above(0)  # W_max
reno: bytes = above(0)  # W_est, the window of Reno
counted: bytes = 0  # acknowledgements up to here have already increased the window or reno
exceeded: condition = anything()  # a loss was detected, so that slow start ends at the threshold
threshold: bytes = above(0)  # ssthresh
since: bytes = between(0, 8 * MSS)  # the time since the last decrease, a packet for each R_m
until_max: bytes = between(0, 4 * MSS)  # K
recover: bytes = 0  # no other decrease until all bytes sent before the last one are acknowledged or lost


def update(
    window,
    window_max,
    reno,
    counted,
    exceeded,
    threshold,
    since,
    until_max,
    recover,
    acked,
    lost,
    sent,
    timeout,
    app_limited,
    MSS,
    R_m,
    step,
    second,
):
    if timeout:
        threshold = max(2 * MSS, BETA * window)
        exceeded = True
        window = MSS
        counted = acked
        recover = sent
    elif lost > lost[step] and acked + lost[step] >= recover:
        shrinks = window < window_max  # other flows need room: fast convergence
        window_max = (1 + BETA) / 2 * window if shrinks else window
        window = BETA * window
        threshold = window
        exceeded = True
        reno = window
        counted = acked
        since = 0
        cube = (window_max - window) / C
        assume(0 <= cube <= 64 * MSS)
        low = min(cube, (cube + 6 * MSS) / 7, (cube + 30 * MSS) / 19, (cube + 84 * MSS) / 37)
        high = min((4 * cube + MSS) / 3, (cube + 2 * MSS) / 3, (cube + 16 * MSS) / 12, (cube + 54 * MSS) / 27)
        until_max = bounded(MSS * second / R_m * cbrt(cube / MSS), low, high)
        recover = sent
    elif app_limited:
        counted = acked
    elif not exceeded or window < threshold:
        more = window + acked - counted
        window = min(more, threshold) if exceeded else more
        window_max = window
        reno = window
        counted = acked
        since = 0
        until_max = 0
    else:
        since = since + MSS * step / R_m
        grows = acked - counted >= window  # Reno's increase, α_cubic packets for each window acknowledged
        reno = reno + (3 * (1 - BETA) / (1 + BETA) * MSS if grows else 0)
        counted = counted + (window if grows else 0)
        d = since - until_max
        assume(-8 * MSS <= d <= 8 * MSS)
        away = max(d, -d)
        chords = max(away, 7 * away - 6 * MSS, 28 * away - 48 * MSS, 112 * away - 384 * MSS)
        tangents = max(0, 3 * away - 2 * MSS, 12 * away - 16 * MSS, 48 * away - 128 * MSS)
        low = window_max + C * (tangents if d >= 0 else -chords)
        high = window_max + C * (chords if d >= 0 else -tangents)
        window = bounded(
            max(window_max + C * MSS * (d / MSS * R_m / second) ** 3, reno), max(low, reno), max(high, reno)
        )


def send(window):
    return window
