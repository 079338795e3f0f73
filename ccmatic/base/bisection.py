"""The search for an edge."""


def last_good(count, is_good):
    """The index of the last that is good, of so many of which all are good up to some index, and none is after it; -1
    if none is. `is_good(index)` is asked on both sides of the edge, where there are two, and of the first and the last
    before any between them."""
    good, bad = -1, count
    first = (0, count - 1)
    while bad - good > 1:
        left = [index for index in first if good < index < bad]
        ask = left[0] if left else (good + bad) // 2
        if is_good(ask):
            good = ask
        else:
            bad = ask
    return good


def last_good_from_above(count, is_good, is_known):
    """As `last_good`, where it takes longer to tell that one is good than that one is not, and more of those are known
    then: `is_known(index)` tells, at no cost, which are not good. The last of those left is asked, then further from
    it, twice as far each time, until one is good."""
    good, bad, step = -1, count, 1
    while True:
        start = good + 1
        bad = start + last_good(bad - start, lambda index, start=start: not is_known(start + index)) + 1
        if bad == start:
            return good
        ask = max(bad - step, (good + bad) // 2)
        if is_good(ask):
            good, step = ask, 1
        else:
            bad, step = ask, 2 * step
