"""`python -m ccmatic` is the program, and benchmarks run: each with as little to do as can be."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ccmatic
from ccmatic.base import write_text
from support import ROOT
from support.benchmarks import run_benchmark
from support.cli import run
from support.sampling import each_nth

TINY = {
    "bounds": ("--runs", "1", ROOT / "results" / "proofs" / "cc_qdel_T10.json"),
    "export": ("cc_qdel",),
    "table2": ("g1_t5", "--jobs", "1"),
    "networks": ("aimd", "--folder", "."),
}


LATE = ROOT / "results" / "gallery" / "late_drain.json"


def python(*arguments, cwd):
    return subprocess.run([sys.executable, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=300)


def test_python_m_ccmatic_is_the_program(tmp_path):
    done = python("-m", "ccmatic", "--version", cwd=tmp_path)
    assert done.returncode == 0 and ccmatic.__version__ in done.stdout
    refused = python("-m", "ccmatic", "verify", "no_such_controller", cwd=tmp_path)
    assert refused.returncode == 2 and "Traceback" not in refused.stderr


@pytest.mark.parametrize("arguments", [["list"], ["--help"], ["verify", "--help"], ["replay", LATE, LATE]])
def test_a_closed_pipe_ends_a_command_quietly_and_is_no_success(arguments):
    """`ccmatic … | head -1` may end before the answer that counts. SIGPIPE ends other programs, which a shell shows as
    141."""
    with begun(*arguments, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == ("", 141)


def test_a_message_that_nobody_reads_is_no_violation():
    """`ccmatic … 2>&1 | head -0` ended with 1."""
    with begun("verify", "no_such_controller", stderr=subprocess.STDOUT) as process:
        process.stdout.close()
        assert process.wait() == 141


def begun(*arguments, stderr):
    command = [sys.executable, "-m", "ccmatic", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full on this machine")
def test_a_full_disk_is_no_fault_of_ccmatic():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "ccmatic", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.stderr, done.returncode) == ("ccmatic: cannot write: No space left on device\n", 3)


def test_a_pipe_and_a_link_stay_what_they_are(tmp_path):
    """A file that is written atomically replaces what was there: for root, this would also replace /dev/null."""
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "one")
    assert (os.read(reader, 10), pipe.is_fifo()) == (b"one", True)
    os.close(reader)
    target.write_text("zero")
    link.symlink_to(target)
    write_text(link, "two")
    assert link.is_symlink() and target.read_text() == "two"


@pytest.mark.parametrize("name", each_nth(2, TINY))
def test_a_benchmark_runs(name, tmp_path):
    if name == "export" and not shutil.which("cc"):
        pytest.skip("no cc on this machine")
    if name == "networks":
        results = json.loads((ROOT / "results" / "tables" / "networks.json").read_text())
        known = [cell for cell in results if (cell["controller"], cell["network"]) != ("aimd", "policer")]
        assert len(known) == len(results) - 3
        (tmp_path / "networks.json").write_text(json.dumps(known))
    done = run_benchmark(name, *TINY[name], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert name != "networks" or done.stdout.count("aimd, policer, ") == 3
    assert {"table2": "| g1_t5 | 4 | 4 |", "export": "ns a decision"}.get(name, "") in done.stdout != ""


@pytest.mark.slow
def test_scaling_measures_what_is_missing(tmp_path):
    """It measures a missing result, here a quick one, and draws all of them."""
    results = json.loads((ROOT / "results" / "tables" / "scaling.json").read_text())
    missing = min(results["horizon"], key=lambda point: (point["on"] != "1 process", point["at"]))
    results["horizon"].remove(missing)
    (tmp_path / "scaling.json").write_text(json.dumps(results))
    done = run_benchmark("scaling", f"horizon={missing['at']}", "--folder", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    *_, again = json.loads((tmp_path / "scaling.json").read_text())["horizon"]
    assert (again["at"], again["solutions"]) == (missing["at"], missing["solutions"])
    assert "candidates" in (tmp_path / "scaling.svg").read_text()


@pytest.mark.parametrize(
    "command",
    [["emulate", "--seconds", "nan"], ["emulate", "--warmup", "nan"], ["verify", "cc_qdel", "--timeout", "nan"]],
)
def test_nan_is_no_number_of_seconds(command):
    code, _, error = run(*command)
    assert code == 2 and "nan is no number of seconds" in error and len(error.splitlines()) == 1
