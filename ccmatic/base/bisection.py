"""The search for an edge."""


def last_good(count, is_good):
    """The index of the last that is good, of so many of which all are good up to some index, and none is after it; -1
    if none is. `is_good(index)` is asked on both sides of the edge, where there are two, and of the first and the last
    before any between them."""
    return last_good_at_once(count, lambda indices: [is_good(*indices)], 1)


def last_good_at_once(count, are_good, at_once):
    """As `last_good`, where several indices are decided at once.

    Args:
        count: The number of indices.
        are_good: Returns for each of a list of indices whether it is good.
        at_once: The most indices in such a list.
    """
    good, bad = -1, count
    first = sorted({0, count - 1})
    while bad - good > 1:
        between = {good + (bad - good) * part // (at_once + 1) for part in range(1, at_once + 1)} - {good}
        asks = [index for index in first if good < index < bad][:at_once] or sorted(between)
        answers = list(zip(asks, are_good(asks), strict=True))
        good = max([good, *(index for index, is_good in answers if is_good)])
        bad = min([bad, *(index for index, is_good in answers if not is_good)])
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
