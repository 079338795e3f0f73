"""The loss rate: lost bytes divided by the sum of acknowledged and lost bytes."""


def loss_rate(lost, acked, byte):
    return lost / max(acked + lost, byte)
