"""The share of marked bytes among the acknowledged bytes."""


def marked_share(marked, acked, byte):
    return marked / max(acked, byte)
