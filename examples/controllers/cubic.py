"""CUBIC: a cube of the time since the last decrease, flat around the window at which losses were; or Reno, if faster.

RFC 9438, sections 4.2 to 4.8 and 4.10, without HyStart. C is 0.4 packets/s³, where solvers take a second to be R_m; an
exported sender measures how long a second is. The cube and its root lie between chords and tangents, which are proved
to bound them, up to 8·R_m on both sides of K and for K up to 4·R_m; what is verified is of executions within that. An
exported sender follows the law anywhere. Times are in packets, one for an R_m.
"""

C = 2 / 5

window: bytes = above(0)
window_max: bytes = above(0)  # W_max
reno: bytes = above(0)  # W_est, what Reno would have
counted: bytes = 0  # acknowledged up to here: what Reno has grown for, or slow start
exceeded: condition = anything()  # a loss was found: from then on slow start ends at the threshold
threshold: bytes = above(0)  # ssthresh
since: bytes = between(0, 8 * MSS)  # the last decrease
until_max: bytes = between(0, 4 * MSS)  # K
recover: bytes = 0  # no other decrease until what was sent by the last one is acknowledged or lost


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
    MSS,
    R_m,
    step,
    second,
):
    if timeout:
        threshold = max(2 * MSS, 7 / 10 * window)
        exceeded = True
        window = MSS
        counted = acked
        recover = sent
    elif lost > lost[step] and acked + lost[step] >= recover:
        shrinks = window < window_max  # other flows need room: fast convergence
        window_max = 17 / 20 * window if shrinks else window
        window = 7 / 10 * window
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
        grows = acked - counted >= window  # Reno, by 9/17 of a packet for each window acknowledged
        reno = reno + (9 / 17 * MSS if grows else 0)
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
