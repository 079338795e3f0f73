"""AIMD controllers whose only state is the window.

The holes are the increase per step, the factor of the decrease, and the number of lost packets that the controller
tolerates. If R = 1, a step is one R_m, so `increase` is in packets per round trip.
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
