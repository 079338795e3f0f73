"""Sends at any rate that its interface has, step by step as the network chooses: what holds beside it holds beside all."""

pace: rate = above(0)


def update(line_rate):
    pace = between(0, line_rate)


def send(pace):
    return pace
