"""Which of many like cases the default tests take."""

import pytest


def each_nth(n, cases):
    """Parameters of a test: the first of each n cases is for the default tests, and the others are slow.

    Args:
        n: how many cases there are for one default test.
        cases: a case each; a tuple has several arguments.
    """
    each = (case if isinstance(case, tuple) else (case,) for case in cases)
    return [pytest.param(*one, marks=[pytest.mark.slow] if number % n else []) for number, one in enumerate(each)]
