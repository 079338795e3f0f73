"""Search for the edge between good and bad indices."""


def last_good(count, is_good):
    """Return the last good index, up to which all are good and after which none is; -1 if none is good.

    The search tries the first and the last index before all others. It always evaluates both sides of the edge, if the
    edge has two.

    Args:
        count: The number of indices.
        is_good: Returns whether an index is good.
    """
    return last_good_at_once(count, lambda indices: [is_good(*indices)], 1)


def last_good_at_once(count, are_good, at_once):
    """Return the last good index like `last_good`, deciding several indices at once.

    Args:
        count: The number of indices.
        are_good: Returns for each index in a list whether it is good.
        at_once: The largest length of such a list.
    """
    good, bad = -1, count
    first = sorted({0, count - 1})
    while bad - good > 1:
        between = {good + (bad - good) * part // (at_once + 1) for part in range(1, at_once + 1)} - {good}
        candidates = [index for index in first if good < index < bad][:at_once] or sorted(between)
        answers = list(zip(candidates, are_good(candidates), strict=True))
        good = max([good, *(index for index, is_good in answers if is_good)])
        bad = min([bad, *(index for index, is_good in answers if not is_good)])
    return good


def last_good_from_above(count, is_good, is_known):
    """Return the last good index like `last_good`, approaching it from above.

    This suits searches in which proving an index good takes longer than refuting it, and a refutation refutes further
    indices. The search tries the last remaining index, then goes down by steps that double until an index is good.

    Args:
        count: The number of indices.
        is_good: Returns whether an index is good.
        is_known: Returns, at no cost, whether an index is already known not to be good.
    """
    good, bad, step = -1, count, 1
    while True:
        start = good + 1
        bad = start + last_good(bad - start, lambda index, start=start: not is_known(start + index)) + 1
        if bad == start:
            return good
        candidate = max(bad - step, (good + bad) // 2)
        if is_good(candidate):
            good, step = candidate, 1
        else:
            bad, step = candidate, 2 * step
