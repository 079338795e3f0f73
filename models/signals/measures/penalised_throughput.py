"""Throughput - ζ · lost bytes per second. CCLab and Learn-to-Probe give no ζ; 5 is our choice."""


def penalised_throughput(throughput, lost, seconds):
    return throughput - 5 * lost / seconds
