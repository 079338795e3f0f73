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
    options = ("--json", "--rtt", "20ms", "--buffer", buffer, "--seconds", "12")
    for _ in range(3):
        done = run_benchmark("windows", *options, "reno", "bpf:reno")
        assert done.returncode == 0, done.stderr
        kernels, ours = map(json.loads, done.stdout.splitlines())
        if not kernels["faults"] + ours["faults"]:
            break
    else:
        pytest.skip(f"this machine stalls: {kernels['faults']}, {ours['faults']}")
    for name in ("mean", "p5", "p50", "p95"):
        assert 0.8 < ours[name] / kernels[name] < 1.25, (name, kernels, ours)
    assert abs(ours["utilisation"] - kernels["utilisation"]) < 0.1
