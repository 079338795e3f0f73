"""The highest throughput of any interval so far; initially 0."""


def first_highest_throughput(byte, second):
    return 0 * byte / second


def next_highest_throughput(highest_throughput, throughput):
    return max(highest_throughput, throughput)
