"""The share of lost bytes among the bytes acknowledged or lost."""


def loss_rate(lost, acked, byte):
    return lost / max(acked + lost, byte)
