"""Search for the edge between good and bad indices, where all good indices come before all bad ones."""


def last_good(count, is_good):
    """Return the last good index below `count`, or -1 if no index is good.

    The search tries the first and the last index before all others. It always evaluates the last good index and the
    first bad index, if both exist.
    """
    return last_good_at_once(count, lambda indices: [is_good(*indices)], 1)


def last_good_at_once(count, are_good, at_once):
    """Return the last good index like `last_good`, but decide up to `at_once` indices at once.

    `are_good` returns for each index of a list whether it is good.
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
    """Return the last good index like `last_good`, but search from the largest index down.

    This order suits a search in which an index takes longer to prove good than to refute, and in which one refutation
    also refutes further indices: `is_known` returns at no cost whether an index is already known to be bad. The search
    goes down by steps that double until an index is good.
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
