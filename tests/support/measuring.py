"""What the tests cost: CPU seconds of each test, fixture and import, and the budget of each class of tests."""

import json
import os
import time
import tomllib
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest

from support import TESTS

BUDGETS = tomllib.loads((TESTS / "budgets.toml").read_text())


def cpu_seconds():
    """CPU time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def yardstick():
    """CPU seconds of work that is always the same, by which a machine that is slow or busy is known."""
    begin = time.process_time()
    for number in range(200_000):
        str(number).encode()
    return time.process_time() - begin


class Measuring:
    """What one process measures; that of the user adds up what its workers have measured."""

    def __init__(self, config):
        self.config, self.total, self.yardsticks = config, 0, []
        self.tests, self.fixtures, self.imports = (defaultdict(float) for _ in range(3))
        self.skipped = []

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        begin = cpu_seconds()
        try:
            return (yield)
        finally:
            if isinstance(collector, pytest.File):
                self.imports[collector.nodeid] += cpu_seconds() - begin

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        begin = cpu_seconds()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self.fixtures[f"{fixturedef.baseid}::{fixturedef.argname}"] += cpu_seconds() - begin

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        if len(self.tests) % 50 == 0:
            self.yardsticks.append(yardstick())
        begin = cpu_seconds()
        try:
            return (yield)
        finally:
            self.tests[item.nodeid] += cpu_seconds() - begin

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        with_workers = self.config.pluginmanager.hasplugin("dsession")
        self.total += sum(os.times()[:2]) if with_workers else cpu_seconds()  # the workers are children as well
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["measured"] = [
                self.total,
                self.yardsticks,
                self.skipped,
                *map(dict, (self.tests, self.fixtures, self.imports)),
            ]
        elif self.over():
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        total, yardsticks, skipped, *parts = getattr(node, "workeroutput", {}).get("measured", (0, [], [], {}, {}, {}))
        self.total += total
        self.yardsticks += yardsticks
        self.skipped += skipped
        for mine, its in zip((self.tests, self.fixtures, self.imports), parts, strict=True):
            for name, seconds in its.items():
                mine[name] += seconds

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            self.skipped.append(report.nodeid)

    def pytest_collectreport(self, report):
        if report.skipped:
            self.skipped.append(report.nodeid)

    def slower(self):
        """How many times as slow this machine was as the one of the budgets."""
        return max(1, median(self.yardsticks or [0]) / BUDGETS["yardstick"])

    def classes(self):
        """CPU seconds of each class of tests."""
        spent = defaultdict(float)
        for name, seconds in self.tests.items():
            spent[name.split("/")[1]] += seconds
        return {"start": self.total - sum(spent.values())} | spent

    def over(self):
        """The classes that exceed their budgets."""
        return [name for name, seconds in self.classes().items() if seconds > BUDGETS[name] * self.slower()]

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section(f"CPU seconds, on a machine {self.slower():.2f} times as slow as that of the budgets")
        for name, seconds in sorted(self.classes().items(), key=lambda item: -item[1]):
            over = "  more than its budget" if name in self.over() else ""
            terminalreporter.line(f"{name:12} {seconds:6.1f}  of {BUDGETS[name] * self.slower():6.1f}{over}")
        terminalreporter.line(f"{'together':12} {self.total:6.1f}")
        self.write(self.config.getoption("measured"))

    def write(self, file):
        """Write what was measured, what took longest first. Of tests that did not run, what they took before stays."""
        file = Path(file)
        before = json.loads(file.read_text())["tests"] if file.exists() else {}
        files = defaultdict(dict, {path: its for path, its in before.items() if (self.config.rootpath / path).exists()})
        for name, seconds in sorted(self.tests.items(), key=lambda item: -item[1]):
            path, _, test = name.partition("::")
            files[path][test] = round(seconds, 2)
        parts = {"classes": self.classes(), "fixtures": self.fixtures, "imports": self.imports}
        longest = {
            part: {name: round(its[name], 2) for name in sorted(its, key=its.get, reverse=True) if its[name] >= 0.01}
            for part, its in parts.items()
        }
        found = {"total": round(self.total, 1), **longest, "skipped": sorted(set(self.skipped)), "tests": files}
        file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
