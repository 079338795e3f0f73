"""Ctrl-C, wherever it comes: within two seconds, exit code 130 and one line."""

import os
import signal
import subprocess
import sys
import time

import pytest

#: A package in place of a real one: it says when it is being imported, and swallows what interrupts it, as some do.
SWALLOWS = """\
import sys, time
print("importing", flush=True)
try:
    time.sleep(60)
except BaseException:
    raise ImportError
"""


def begin(*arguments, cwd, **more):
    command = [sys.executable, "-m", "ccmatic", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=cwd, start_new_session=True, **pipes, **more)


def ends(process, everyone=False):
    """Interrupt it, or all of its group as a terminal does: how it ends."""
    asked = time.monotonic()
    (os.killpg if everyone else os.kill)(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.strip()) == (130, "ccmatic: interrupted")
    assert time.monotonic() - asked < 2


@pytest.mark.parametrize("package", ["click", "pysmt", "z3", "rich"])
def test_during_imports(package, tmp_path):
    (tmp_path / f"{package}.py").write_text(SWALLOWS)
    network = ["--model", "ccac", "--buffer", "any", "--horizon", "5"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    process = begin("verify", "always_double", *network, cwd=tmp_path, env=environment)
    assert "importing\n" in iter(process.stdout.readline, "")
    ends(process)
