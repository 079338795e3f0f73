"""Wrong: sends one packet per R_m on any link, so a fast link stays idle."""


def rate(R_m, MSS):
    return MSS / R_m
