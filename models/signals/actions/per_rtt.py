"""The action of Ghermezian et al. (Eq. 1): multiply the rate by e^(α·a) per latest RTT, with Custard's α = 0.01.

A longer RTT means a smaller change in one interval. In the paper, neither α nor the intervals of 100 to 200 ms depend
on the RTT.
"""


def bounds():
    return [-10, 10]


def act(rate, action, seconds, rtt):
    return rate * exp(0.01 * action * seconds / rtt)
