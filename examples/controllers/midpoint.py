"""Wrong: bisects between C_L and C_U and never goes below C_L, so no queue drains."""


def rate(C_L, C_U):
    return (C_L + C_U) / 2
