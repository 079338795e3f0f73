"""Orca's action (Abbasloo et al., SIGCOMM 2020) without CUBIC: multiply the last rate by 2^a.

The original Orca multiplies CUBIC's window instead.
"""


def bounds():
    return [-2, 2]


def act(rate, action):
    return rate * 2**action
