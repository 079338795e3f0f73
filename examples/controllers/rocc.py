"""RoCC: in flight what was acknowledged in the last three R_m, and a packet more, paced over an R_m.

108anup/ccac at 68a0c81, example_queries.py, `rocc_high_util`, where a hundredth of C·R_m has the place of the packet.
"""

window: bytes = above(0)


def update(acked, MSS, R_m):
    window = acked - acked[3 * R_m] + MSS


def send(window, R_m):
    return window, window / R_m
