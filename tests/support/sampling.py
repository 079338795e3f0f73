"""Which tests, and which of many like cases, are for the default run of a day."""

import json
import os
from datetime import UTC, date, datetime
from zlib import crc32

import pytest

from support import TESTS

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


#: CPU seconds above which a test is for each other day.
LONG = 0.5


class Draws:
    """Leaves half of the long tests for the next day, if all tests are to run: for this day they are slow ones."""

    def __init__(self):
        files = [json.loads(file.read_text())["tests"] for file in TESTS.glob("durations*.json")]
        took = {f"{path}::{test}": s for its in files for path, tests in its.items() for test, s in tests.items()}
        self.long = {test for test, seconds in took.items() if seconds > LONG}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        for item in items:
            if item.nodeid in self.long and (crc32(item.nodeid.encode()) + DAY) % 2:
                item.add_marker(pytest.mark.slow)
