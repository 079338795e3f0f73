"""BBR closer to BBRv1: startup and drain, eight phases that probe for bandwidth, and ProbeRTT.

N. Cardwell, Y. Cheng, C. S. Gunn, S. H. Yeganeh, V. Jacobson, "BBR: Congestion-Based Congestion Control", ACM Queue
14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00, section 4. Differences: the bandwidth is the maximum over
four R_m, not ten. Lower rates do not count within 2·R_m after the application limited the sender. The RTT is R_m. ProbeRTT comes every 300·R_m and lasts one step. Losses have no effect. The state may
have any initial values in the ranges below.
"""

HIGH = 26 / 9  # 2 / ln 2, which is 2.885

window: bytes = above(0)
bandwidth: rate = above(0)
busy: time = 2 * R_m  # the time since the application last limited the sender, at most 2·R_m
pace: rate = above(0)
fullest: rate = between(0, line_rate)  # the bandwidth when it last grew by a quarter
stalled: time = between(0, 3 * R_m)  # the time since then; at 3·R_m the pipe is full, and startup is over
draining: condition = anything()
phase: time = between(0, 8 * R_m - step)
since_probe: time = between(0, 300 * R_m)  # the time since ProbeRTT


def update(
    bandwidth,
    busy,
    fullest,
    stalled,
    draining,
    phase,
    since_probe,
    ack_rate,
    sent,
    acked,
    lost,
    app_limited,
    MSS,
    R_m,
    step,
):
    busy = 0 if app_limited else min(busy + step, 2 * R_m)
    is_limited = busy < 2 * R_m
    bandwidth = max(bandwidth, ack_rate) if is_limited else max_over(ack_rate, 4)
    bdp = bandwidth * R_m
    since_probe = since_probe + step
    if stalled < 3 * R_m and bandwidth >= 5 / 4 * fullest:
        fullest = bandwidth
        stalled = 0
    elif stalled < 3 * R_m and not is_limited:
        stalled = stalled + step
    if since_probe >= 300 * R_m:
        since_probe = 0
        pace = bandwidth
        window = 4 * MSS
    elif stalled < 3 * R_m:
        draining = True
        pace = HIGH * bandwidth
        window = max(4 * MSS, HIGH * bdp)
    elif draining and sent - acked - lost > bdp:
        pace = bandwidth / HIGH
        window = max(4 * MSS, HIGH * bdp)
    else:
        draining = False
        phase = phase + step - 8 * R_m if phase >= 8 * R_m - step else phase + step
        pace = bandwidth * (5 / 4 if phase < R_m else 3 / 4 if phase < 2 * R_m else 1)
        window = max(4 * MSS, 2 * bdp)


def send(window, pace):
    return window, pace
