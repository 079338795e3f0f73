"""Wrong: sends at twice the proven rate whatever the queue, so it never stops overloading the link."""


def rate(C_L):
    return 2 * C_L
