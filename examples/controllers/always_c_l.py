"""Wrong: sends at the proven rate, so it never learns that the link is faster."""


def rate(C_L):
    return C_L
