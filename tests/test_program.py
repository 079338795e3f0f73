"""`python -m ccmatic` is the program, and benchmarks run: each with as little to do as can be."""

import json
import subprocess
import sys

import pytest

import ccmatic
from support import ROOT

BENCHMARKS = ROOT / "benchmarks"
TINY = {
    "bounds.py": ("--runs", "1", ROOT / "proofs" / "cc_qdel_T10.json"),
    "scaling.py": ("--help",),
    "table2.py": ("--help",),
}


def python(*arguments, cwd):
    return subprocess.run([sys.executable, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=300)


def test_python_m_ccmatic_is_the_program(tmp_path):
    done = python("-m", "ccmatic", "--version", cwd=tmp_path)
    assert done.returncode == 0 and ccmatic.__version__ in done.stdout
    refused = python("-m", "ccmatic", "verify", "no_such_controller", cwd=tmp_path)
    assert refused.returncode == 2 and "Traceback" not in refused.stderr


@pytest.mark.parametrize("name", TINY)
def test_a_benchmark_runs(name, tmp_path):
    done = python(BENCHMARKS / name, *TINY[name], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.slow
def test_the_tour_is_told(tmp_path):
    """A controller through verify, a query through synth, a proof through prove and check."""
    done = python(BENCHMARKS / "tour.py", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["tour"] for one in told] == ["verify", "synth", "prove, check"]
    for one in told:
        assert one["order"][0] == "cli" and one["stays"] == len(one["order"])
        assert one["returns"] == one["stays"] - one["rooms"] > 0 < one["climbs"] < one["stays"]
