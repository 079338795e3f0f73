"""The search for an edge."""


def last_good(count, is_good):
    """The index of the last that is good, of so many of which all are good up to some index, and none is after it; -1
    if none is. `is_good(index)` is asked on both sides of the edge, where there are two, and of the first and the last
    before any between them."""
    good, bad, ask = -1, count, 0
    while bad - good > 1:
        if is_good(ask):
            good = ask
        else:
            bad = ask
        ask = (good + bad) // 2 if good + 1 < bad < count or ask else count - 1
    return good
