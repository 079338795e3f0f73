"""AIMD within what it believes: a loss takes the window to no less than the link surely serves in an R_m, C_L·R_m, and
nothing to more than twice what it may serve, 2·C_U·R_m: beyond that the rest only waits, or is lost.

So losses that are found piece by piece, each answered, do not take it to a packet.
"""

window: bytes = above(0)


def update(window, C_L, C_U, lost, MSS, R_m, step):
    if lost > lost[step]:
        window = window / 2
    else:
        window = window + MSS * step / R_m
    window = max(MSS, C_L * R_m, min(window, 2 * C_U * R_m))


def send(window):
    return window
