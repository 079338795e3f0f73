"""Wrong: bisects between C_L and C_U and never slows below C_L, so that a queue is not drained."""


def rate(C_L, C_U):
    return (C_L + C_U) / 2
