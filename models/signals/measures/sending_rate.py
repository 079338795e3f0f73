"""The sending rate: bytes sent per second."""


def sending_rate(sent, seconds):
    return sent / seconds
