"""Our Reno in the kernel, beside the kernel's own on the same link."""

import json

import pytest

from support.benchmarks import run_benchmark
from support.machine import needs_bpf


@needs_bpf
@pytest.mark.slow
@pytest.mark.parametrize("buffer", ["1/2bdp", "1bdp", "2bdp"])
def test_windows_over_time_are_alike(iperf3, buffer):
    """The 5th, 50th and 95th percentile of the windows, and their mean, within a fifth."""
    options = ("--json", "--runs", "1", "--rtt", "20ms", "--buffer", buffer, "--seconds", "12")
    done = run_benchmark("windows", *options, "reno", "bpf:reno")
    assert done.returncode == 0, done.stderr
    valid = {run["flow"]: run for run in map(json.loads, filter(None, done.stdout.splitlines()))}
    if len(valid) < 2:
        pytest.skip(f"this machine stalls: only {[*valid]} had a valid run in three attempts")
    kernels, ours = valid["reno"], valid["bpf:reno"]
    for name in ("mean", "p5", "p50", "p95"):
        assert 0.8 < ours[name] / kernels[name] < 1.25, (name, kernels, ours)
    assert abs(ours["utilisation"] - kernels["utilisation"]) < 0.1
