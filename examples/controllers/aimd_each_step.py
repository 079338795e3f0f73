"""AIMD that adds a packet at each step, whatever was served: CCAC's `aimd_incr_irrespective`."""

window: bytes = above(0)
recover: bytes = anything()
recovering: condition = False


def update(window, recover, recovering, acked, lost, admitted, timeout, time, MSS, R_m, step):
    if timeout:
        window = MSS
        recover = admitted + 3 * MSS
        recovering = True
    elif lost > lost[step] and (not recovering or time <= R_m + step or recover <= acked[step]):
        window = window / 2
        recover = admitted + 3 * MSS
        recovering = True
    else:
        window = window + MSS


def send(window, line_rate):
    return window, line_rate
