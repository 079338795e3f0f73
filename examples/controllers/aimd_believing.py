"""AIMD within its beliefs about the link rate.

A loss never reduces the window below C_L·R_m, which the link surely serves in an R_m. The window never exceeds
2·C_U·R_m, twice the most that the link may serve: more bytes would only wait or be lost. So a series of losses, each
with its own decrease, cannot shrink the window to a packet.
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
