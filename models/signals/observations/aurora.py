"""Aurora's observations (Jay et al., ICML 2019, section 4.1): latency gradient, latency ratio and sending ratio.

These are d(RTT)/dt, mean RTT / smallest RTT, and bytes sent / bytes acknowledged. We subtract 1 from the two ratios and
limit them to 10.
"""


def observe(gradient, rtt, least_rtt, sent, acked, byte):
    return [gradient, min(rtt / least_rtt - 1, 10), min(sent / max(acked, byte) - 1, 10)]
