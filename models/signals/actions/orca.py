"""Orca's action (Abbasloo et al., SIGCOMM 2020): times 2^a.

Orca scales CUBIC's window; here the last rate is scaled.
"""


def bounds():
    return [-2, 2]


def act(rate, action):
    return rate * 2**action
