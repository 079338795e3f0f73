"""Any sender: the network chooses its rate in each step. A property that holds beside it holds beside every sender."""

pace: rate = above(0)


def update(line_rate):
    pace = between(0, line_rate)


def send(pace):
    return pace
