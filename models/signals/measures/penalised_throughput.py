"""Throughput minus ζ · lost bytes per second. CCLab and Learn-to-Probe give no value for ζ; our choice is 5."""


def penalised_throughput(throughput, lost, seconds):
    return throughput - 5 * lost / seconds
