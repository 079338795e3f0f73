"""Custard's R_power (section 4.2): throughput / latency, in Mbit/s per ms."""


def reward(throughput, rtt, mbit, second):
    return throughput / mbit / (rtt / second * 1000)
