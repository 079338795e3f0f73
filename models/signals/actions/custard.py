"""Custard's action (section 3.1): multiply the rate by 1 + α·a, with α = 0.01.

The paper prints the opposite sign, with which a < 0 would raise the rate.
"""


def bounds():
    return [-10, 10]


def act(rate, action):
    return rate * (1 + 0.01 * action)
