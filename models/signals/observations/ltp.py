"""Learn-to-Probe's five (its section 4, observation step).

Change of the RTT (100 ms); ratio of the throughput to that of the interval before; the same of the share that was not
lost; throughput over the highest so far; RTT less the least (100 ms). Ratios are at most 10.
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
