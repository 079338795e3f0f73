"""Aurora's observations (Jay et al., ICML 2019, section 4.1): latency gradient, latency ratio and sending ratio.

The latency gradient is d(RTT)/dt, the latency ratio is mean RTT / smallest RTT, and the sending ratio is bytes sent /
bytes acknowledged. We subtract 1 from each ratio and limit the result to 10.
"""


def observe(gradient, rtt, least_rtt, sent, acked, byte):
    return [gradient, min(rtt / least_rtt - 1, 10), min(sent / max(acked, byte) - 1, 10)]
