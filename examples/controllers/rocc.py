"""RoCC: a window of the acknowledgements of the last three R_m plus a packet, paced over an R_m.

`rocc_high_util` in example_queries.py of 108anup/ccac at 68a0c81, which adds a hundredth of C·R_m in place of the
packet.
"""

window: bytes = above(0)


def update(acked, MSS, R_m):
    window = acked - acked[3 * R_m] + MSS


def send(window, R_m):
    return window, window / R_m
