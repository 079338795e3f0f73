"""Wrong: sends at half the proven rate, so half of the link stays idle."""


def rate(C_L):
    return C_L / 2
