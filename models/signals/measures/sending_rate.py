"""Bytes sent per second."""


def sending_rate(sent, seconds):
    return sent / seconds
