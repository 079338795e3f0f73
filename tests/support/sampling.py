"""Which of many like cases the default tests take."""

import os
from datetime import UTC, date, datetime

import pytest

#: The day by which cases are drawn. Workers inherit it, so that all of them draw the same at midnight.
DAY = date.fromisoformat(os.environ.setdefault("CCMATIC_TESTS_DAY", datetime.now(UTC).date().isoformat())).toordinal()


def each_nth(n, cases):
    """Parameters of a test: one of each n cases is for the default tests, on each day the next one; others are slow.

    Args:
        n: how many cases there are for one default test.
        cases: a case each; a tuple has several arguments.
    """
    each = (case if isinstance(case, tuple) else (case,) for case in cases)
    return [
        pytest.param(*one, marks=[pytest.mark.slow] if (number - DAY) % n else []) for number, one in enumerate(each)
    ]
