"""Throughput - ζ · lost bytes per second. CCLab and Learn-to-Probe state no ζ; 5 is ours."""


def penalised_throughput(throughput, lost, seconds):
    return throughput - 5 * lost / seconds
