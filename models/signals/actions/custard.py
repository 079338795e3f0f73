"""Custard's action (section 3.1): the rate times 1 + α·a, α = 0.01.

The paper prints another sign, by which a < 0 would raise the rate.
"""


def bounds():
    return [-10, 10]


def act(rate, action):
    return rate * (1 + 0.01 * action)
