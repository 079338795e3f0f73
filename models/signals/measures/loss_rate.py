"""Bytes lost as a share of the bytes that were acknowledged or lost."""


def loss_rate(lost, acked, byte):
    return lost / max(acked + lost, byte)
