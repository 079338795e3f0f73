"""Learn-to-Probe's five observations (section 4 of its paper, observation step).

The observations are: the change of the RTT, in units of 100 ms; the throughput, relative to the previous interval; the
share of bytes that are not lost, relative to the previous interval; throughput / highest throughput so far; and RTT
minus smallest RTT, in units of 100 ms. Ratios are at most 10.
"""


def observe(
    rtt,
    rtt_before,
    least_rtt,
    throughput,
    throughput_before,
    highest_throughput,
    loss_rate,
    loss_rate_before,
    byte,
    second,
):
    return [
        (rtt - rtt_before) / second * 10,
        min(throughput / max(throughput_before, byte / second), 10),
        min((1 - loss_rate) / max(1 - loss_rate_before, 0.1), 10),
        throughput / max(highest_throughput, byte / second),
        (rtt - least_rtt) / second * 10,
    ]
