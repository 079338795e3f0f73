"""Swift: adds a packet per R_m while the RTT is below a target, otherwise decreases in proportion to the excess.

G. Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020,
Algorithm 1. Its beta is 4/5, a decrease takes at most half of the window, and the only target is 5/4·R_m. Delays above
3/2·R_m halve the window; in the paper, those above 7/3·R_m do. Not included: the terms of the target for hops and small
windows, windows below a packet, and the reset after several timeouts. An RTT is R_m and `delay`, which is known in
whole steps, rounded up. With steps of R_m/4 it can meet the target (`--model ccac_windows:R=4`). With steps of R_m, any
queue exceeds the target.
"""

window: bytes = above(0)
until: bytes = anything()  # the window may decrease once all bytes up to here are acknowledged or lost


def update(window, until, delay, measured, acked, lost, sent, timeout, MSS, R_m, step):
    # 1 - beta * (RTT - target) / RTT, for delays in steps of R_m/4
    near = 13 / 15 if delay <= R_m / 2 else 27 / 35 if delay <= 3 * R_m / 4 else 7 / 10
    far = 29 / 45 if delay <= 5 * R_m / 4 else 3 / 5 if delay <= 3 * R_m / 2 else 1 / 2
    loss = timeout or lost > lost[step]
    late = measured and delay > R_m / 4
    if (loss or late) and acked + lost >= until:
        window = max(MSS, window * (1 / 2 if loss else near if delay <= R_m else far))
        until = sent
    elif measured and not late and not loss:
        window = window + MSS * step / R_m


def send(window):
    return window
