"""A window that grows by a packet in a step, and falls to three quarters while bytes wait for R_m, and ever longer."""

waiting = observation("waiting.py")

window: bytes = above(0)


def update(window, waiting, MSS):
    if waiting[0] >= 1 and waiting[1] >= 0:
        window = max(2 * MSS, 3 / 4 * window)
    else:
        window = window + MSS


def send(window):
    return window
