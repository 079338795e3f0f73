"""Slow tests: those that have not run for longest come first, and a file keeps the last result of each."""

import json
import subprocess
import time
from collections import Counter
from datetime import UTC, datetime
from math import inf

import pytest

from support import ROOT, TESTS

#: The last result of each slow test: a JSON object a line, of which the last one about a test counts.
RESULTS = TESTS / "nightly.jsonl"


def last_results():
    """The last result of each slow test, by its name."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else ()
    # A line that a kill -9 cut off is none.
    return {result["test"]: result for line in lines if line.endswith("}") for result in [json.loads(line)]}


def state():
    """The commit that is tested; None if files differ from it."""
    git = ["git", "-C", str(ROOT)]
    changed = subprocess.run(
        [*git, "status", "--porcelain", "--", ".", f":!{RESULTS.relative_to(ROOT)}"], capture_output=True, text=True
    )
    if changed.returncode or changed.stdout:
        return None
    return subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()


class Nightly:
    """Orders the slow tests, ends in time, and keeps what each said as soon as it said so."""

    def __init__(self, config, minutes):
        self.config, self.worker = config, hasattr(config, "workerinput")
        begin = config.workerinput["began"] if self.worker else time.time()
        self.began, self.until = begin, begin + minutes * 60
        self.last, self.commit, self.names, self.spent = last_results(), state(), set(), {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        node.workerinput["began"] = self.began

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config, items):
        """Leave out what passed at this commit, so that a command that was interrupted goes on."""
        self.names = {item.nodeid for item in items if item.get_closest_marker("slow")}
        done = [item for item in items if self.commit and self._passed_here(item.nodeid)]
        items[:] = [item for item in items if item not in done]
        items.sort(key=lambda item: self.last.get(item.nodeid, {}).get("date", ""))
        config.hook.pytest_deselected(items=done)

    def _passed_here(self, name):
        last = self.last.get(name, {})
        return last.get("commit") == self.commit and last["outcome"] == "passed"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        """Skip what would end too late; where time is limited, also what has never run, which may take an hour."""
        if time.time() + self.last.get(item.nodeid, {}).get("seconds", inf) > self.until:
            pytest.skip("no time left")

    def pytest_runtest_logreport(self, report):
        if self.worker:
            return
        self.spent[report.nodeid] = self.spent.get(report.nodeid, 0) + report.duration
        if report.when == "call" or report.outcome != "passed":
            self._keep(report)

    def _keep(self, report):
        """Append a result; what was skipped since no time was left has none."""
        reason = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
        if "no time left" in reason:
            return
        result = {
            "test": report.nodeid,
            "outcome": report.outcome,
            **({"reason": reason.removeprefix("Skipped: ")} if reason else {}),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": self.commit,
            "seconds": round(self.spent[report.nodeid], 1),
        }
        self.last[report.nodeid] = result
        with RESULTS.open("a") as file:
            file.write(json.dumps(result, ensure_ascii=False) + "\n")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self):
        if self.worker:
            self.config.workeroutput["slow tests"] = sorted(self.names)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self.names |= set(getattr(node, "workeroutput", {}).get("slow tests", ()))

    def pytest_terminal_summary(self, terminalreporter):
        """Say which tests have failed, and which have not run for how long; keep a line a test in the file."""
        kept = {name: result for name, result in self.last.items() if name in self.names}
        whole = self.config.args_source is pytest.Config.ArgsSource.TESTPATHS
        write_lines(kept if whole else self.last)  # tests that are no more are forgotten
        line = terminalreporter.line
        terminalreporter.section("slow tests")
        for name, result in kept.items():
            if result["outcome"] == "failed":
                line(f"failed at {result['date']}: {name}")
        for reason, count in Counter(its["reason"] for its in kept.values() if "reason" in its).most_common():
            line(f"{count} cannot run here: {reason}")
        never = sorted(self.names - kept.keys())
        line(f"{len(never)} of {len(self.names)} have never run" + "".join(f"\n    {name}" for name in never[:5]))
        if kept:
            oldest = min(kept.values(), key=lambda its: its["date"])
            days = (datetime.now(UTC) - datetime.fromisoformat(oldest["date"])).days
            line(f"the others ran {days} days ago or later: {oldest['test']} first")


def write_lines(results):
    """Write a line for each result. A file that is replaced at once survives whatever ends this process."""
    new = RESULTS.with_suffix(".new")
    new.write_text("".join(json.dumps(its, ensure_ascii=False) + "\n" for _, its in sorted(results.items())))
    new.replace(RESULTS)
