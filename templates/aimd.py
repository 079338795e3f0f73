"""AIMD whose only state is its window.

The holes are its increase per step, the factor of its decrease, and the number of lost packets that it tolerates. A
step is an R_m if R = 1, so `increase` is then in packets per round trip.
"""

from ccmatic.contracts import Sketch

TEMPLATE = Sketch(
    """
    window: bytes = above(0)


    def update(window, lost, step, MSS):
        if lost - lost[step] > threshold * MSS:
            window = max(MSS, decrease * window)
        else:
            window = window + increase * MSS


    def send(window, line_rate):
        return window, line_rate
    """,
    {"increase": ("1/2", 1, 2), "decrease": ("1/4", "1/2", "3/4", "7/8"), "threshold": (0, 1, 4)},
)
