"""The sender in plain Python that is measured beside the compiled one decides as that does; and that they are."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ccmatic.deployment import policies
from ccmatic.worlds.runtime.library import Library, LibraryFlow
from support import ROOT
from support.benchmarks import defined_by, module
from support.machine import needs_bpf, needs_compiler
from support.policies import Interval, deciding, pointer, policy

PACKET, STEP = 1500, 0.02


@needs_compiler
def test_it_decides_as_compiled_code_does(tmp_path):
    pytest.importorskip("jax", reason="JAX is not installed")
    given = policy(tmp_path / "made.json", observe="aurora", reward="aurora", history=10)
    python = defined_by("python_sender")["Decisions"](given, STEP)
    library = Library(policies.exported(given))
    sender, decide, observed = (
        LibraryFlow(library, PACKET, int(STEP * 1e9)),
        deciding(library),
        np.zeros(30, np.float32),
    )
    rng, rtt, end = np.random.default_rng(4), STEP, STEP
    rates = []
    for acked in (0, *rng.integers(1, 900, 15), 0, 20):
        sent = acked + rng.integers(0, 300)
        if acked:
            rtt, end = STEP + 0.03 * rng.random(2)
        python.over(sent, acked, rtt * acked, end)
        interval = Interval(STEP, sent * PACKET, acked * PACKET, 0, rtt, end)
        rates.append(decide(sender._pointer, interval, STEP, pointer(observed)))
        np.testing.assert_allclose(python.history.ravel(), observed, rtol=1e-4, atol=1e-4)
        assert rates[-1] == pytest.approx(python.rate, rel=1e-3)
        python.rate = rates[-1]
    assert max(rates) > 1.5 * min(rates)


@needs_bpf
@pytest.mark.slow
@pytest.mark.real_time
def test_the_highest_rates_are_told_and_nothing_is_left():
    pytest.importorskip("jax", reason="JAX is not installed")
    command = [sys.executable, "-m", module("highest_rate"), "--runs", "1", "--seconds", "0.5"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as measuring:
        told, error = measuring.communicate(timeout=300)
    assert measuring.returncode == 0, error
    *rates, inference = told.splitlines()
    assert len(rates) == 5 and all(float(line.partition("Gbit/s")[0].split()[-4]) > 0.01 for line in rates)
    assert "ns in C" in inference and not [*Path("/run/netns").glob(f"ccm-{measuring.pid}-*")]
