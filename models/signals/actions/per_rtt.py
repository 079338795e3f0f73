"""Ghermezian et al.'s action (Eq. 1): times e^(α·a) per RTT, by the latest measurement, with Custard's α = 0.01.

The longer the RTT, the smaller the change in one interval. (In the paper, α and the intervals of 100 to 200 ms do not
depend on the RTT.)
"""


def bounds():
    return [-10, 10]


def act(rate, action, seconds, rtt):
    return rate * exp(0.01 * action * seconds / rtt)
