"""The throughput: bytes acknowledged per second."""


def throughput(acked, seconds):
    return acked / seconds
