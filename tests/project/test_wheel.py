"""A wheel, installed outside the checkout, has all that it reads."""

import os
import subprocess
import sys

import pytest

from support import ROOT

PROGRAM = """
from ccmatic.cli.commands import cli
from ccmatic.evaluation.runs import bounds

assert cli.main(["export", "cc_probe_slow", "--target", "bpf", "--json"], standalone_mode=False) == 0
assert cli.main(["export", "cc_probe_slow", "--target", "udp", "--json"], standalone_mode=False) == 0
assert cli.main(["replay", TRACE, "--html", "page.html"], standalone_mode=False) == 0
assert cli.main(["synth", "g1_t4", "--json"], standalone_mode=False) == 1
assert bounds("cc_qdel", 16).utilisation > 0.7
"""


@pytest.mark.slow
def test_a_wheel_has_its_definitions_and_sources(tmp_path):
    pip = [sys.executable, "-m", "pip", "-q"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", tmp_path / "installed", wheel], check=True)
    (tmp_path / "elsewhere").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    trace = str(ROOT / "results" / "gallery" / "late_drain.json")
    check = (
        f"TRACE = {trace!r}\n" + PROGRAM + f"\nimport ccmatic\nassert ccmatic.__file__.startswith({str(tmp_path)!r})\n"
    )
    subprocess.run([sys.executable, "-c", check], cwd=tmp_path / "elsewhere", env=environment, check=True)
