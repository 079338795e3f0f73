"""What the tests' own plugins say: slow tests that have not run for longest come first; budgets are kept."""

import json
import re

import pytest

from support import measuring, nightly

pytest_plugins = "pytester"

TESTS = """
import pytest

@pytest.mark.slow
@pytest.mark.parametrize("name", ["old", "failed", "passed", "never", "long"])
def test_slow(name):
    print("\\nran:", name)
    assert name != "failed"
"""


@pytest.fixture
def folder(pytester, monkeypatch):
    monkeypatch.setattr(nightly, "RESULTS", pytester.path / "nightly.jsonl")
    monkeypatch.setattr(nightly, "state", lambda: "this commit")
    pytester.makeini("[pytest]\nmarkers =\n    slow: slow\n")
    pytester.makepyfile(test_some=TESTS)
    known = {
        "old": {"outcome": "passed", "date": "2026-01-02T00:00:00+00:00", "commit": "before", "seconds": 1},
        "failed": {"outcome": "failed", "date": "2026-01-01T00:00:00+00:00", "commit": "this commit", "seconds": 1},
        "passed": {"outcome": "passed", "date": "2026-01-01T00:00:00+00:00", "commit": "this commit"},
        "long": {"outcome": "passed", "date": "2026-01-01T00:00:00+00:00", "commit": "before", "seconds": 90},
    }
    lines = [json.dumps({"test": f"test_some.py::test_slow[{name}]", **result}) for name, result in known.items()]
    nightly.RESULTS.write_text("\n".join([*lines, '{"test": "test_some.py::cut off']) + "\n")
    return pytester


class Nightly:
    """The plugin, made from the configuration of the run that is tested."""

    def pytest_configure(self, config):
        config.pluginmanager.register(nightly.Nightly(config, minutes=1))


def test_oldest_tests_come_first_and_those_that_passed_at_this_commit_are_left_out(folder):
    found = folder.runpytest_inprocess("-s", "-p", "no:xdist", plugins=[Nightly()])
    assert re.findall(r"^ran: (\w+)", found.stdout.str(), re.MULTILINE) == ["failed", "old"]
    found.stdout.fnmatch_lines(["failed at *test_slow[[]failed]", "1 of 5 have never run"])
    kept = nightly.last_results()
    assert {name: its["outcome"] for name, its in kept.items()} == {
        f"test_some.py::test_slow[{name}]": "failed" if name == "failed" else "passed"
        for name in ("old", "failed", "passed", "long")
    }
    assert kept["test_some.py::test_slow[long]"]["commit"] == "before"


BUSY = """
import time

def test_busy():
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
"""


class Measured:
    def pytest_configure(self, config):
        config.option.measured = config.rootpath / "durations.json"
        config.pluginmanager.register(measuring.Measuring(config))


@pytest.mark.parametrize("budget, code", [(0, 1), (60, 0)])
def test_a_class_that_takes_more_than_its_budget_fails(pytester, monkeypatch, budget, code):
    monkeypatch.setattr(measuring, "BUDGETS", {"yardstick": 60, "start": 60, "some": budget})
    (pytester.mkdir("tests") / "some").mkdir()
    (pytester.path / "tests/some/test_busy.py").write_text(BUSY)
    assert pytester.runpytest_inprocess("-p", "no:xdist", plugins=[Measured()]).ret == code
    found = json.loads((pytester.path / "durations.json").read_text())
    assert found["tests"]["tests/some/test_busy.py"]["test_busy"] >= 0.05
