"""Learn-to-Probe's action (Eq. 8 of its paper): the window, rate · RTT, changes like Aurora's rate, with α = 0.25.

The sender spreads the window over the RTT of the last interval.
"""


def bounds():
    return [-1, 1]


def act(rate, action, rtt, rtt_before):
    window = rate * rtt_before
    change = 0.25 * action
    return (window * (1 + change) if change >= 0 else window / (1 - min(change, 0))) / rtt
