"""The action is the rate in bytes per second, for senders that are not learned."""


def bounds():
    return [0, 1e10]


def act(action, byte, second):
    return action * byte / second
