"""The action of senders that are not learned: the number is the sending rate in bytes per second."""


def bounds():
    return [0, 1e10]


def act(action, byte, second):
    return action * byte / second
