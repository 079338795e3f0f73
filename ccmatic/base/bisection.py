"""The search for an edge."""


def last_good(count, is_good, guess=None):
    """The index of the last that is good, of so many of which all are good up to some index, and none is after it; -1
    if none is. `is_good(index)` is asked on both sides of the edge, where there are two, and of the first and the last
    before any between them; or, of a guess where the edge is, of that and its neighbours before any other."""
    good, bad = -1, count
    first = (0, count - 1) if guess is None else (guess, guess + 1, guess - 1)
    while bad - good > 1:
        left = [index for index in first if good < index < bad]
        ask = left[0] if left else (good + bad) // 2
        if is_good(ask):
            good = ask
        else:
            bad = ask
    return good
