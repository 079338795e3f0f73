"""Orca's action (Abbasloo et al., SIGCOMM 2020) without CUBIC: multiply the last rate by 2^a.

Orca itself multiplies CUBIC's window.
"""


def bounds():
    return [-2, 2]


def act(rate, action):
    return rate * 2**action
