"""Ghermezian et al.'s (Eq. 1): times e^(α·a) in each RTT as it was measured last, with Custard's α = 0.01.

The longer news takes, the less an interval changes. (Their α and their intervals, 100 to 200 ms, do not depend on the
RTT.)
"""


def bounds():
    return [-10, 10]


def act(rate, action, seconds, rtt):
    return rate * exp(0.01 * action * seconds / rtt)
