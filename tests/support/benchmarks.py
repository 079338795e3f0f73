"""Runs benchmarks, which are modules of the repository and of no installed package."""

import os
import runpy
import subprocess
import sys

from support import ROOT


def module(name):
    """The module of a benchmark, such as benchmarks.studies.worst."""
    [file] = (ROOT / "benchmarks").glob(f"*/{name}.py")
    return f"benchmarks.{file.parent.name}.{name}"


def defined_by(name):
    """Return the definitions of a benchmark's module, by name."""
    sys.path.insert(0, str(ROOT))
    try:
        return runpy.run_module(module(name))
    finally:
        sys.path.remove(str(ROOT))


def saved_traces(*patterns):
    """The traces of the repository that match patterns of paths, by path, also those in the table of windows."""
    return defined_by("counterexamples")["traces"](patterns)


def run_benchmark(name, *arguments, cwd=None, timeout=300):
    """Run a benchmark as its own process: the CompletedProcess, with its text."""
    command = [sys.executable, "-m", module(name), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout)
