"""Aurora's (Jay et al., ICML 2019, section 4.1): latency gradient, latency ratio and sending ratio.

These are d(RTT)/dt, mean RTT over the least, bytes sent over bytes acknowledged. We subtract 1 from the ratios, and
limit them to 10.
"""


def observe(gradient, rtt, least_rtt, sent, acked, byte):
    return [gradient, min(rtt / least_rtt - 1, 10), min(sent / max(acked, byte) - 1, 10)]
