"""The beliefs of exported controllers are true, at the end of every step, of a link that knows nothing of the models.

tests/link_model is that link, in C, with its own sender and application around the exported header; it shares no code
with the simulator or the emulator. What it draws from a seed: rates from 1 kbit/s to 100 Gbit/s, R_m from 10 us to 2 s,
buffers from a packet to 3000, and how packets are delayed within D.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from ccmatic.export import header
from ccmatic.export.files import write

SOURCE = Path(__file__).parent / "link_model" / "link_model.c"
CONTROLLERS = ("cc_qdel", "cc_probe_slow", "g3_1")

#: By name, the bit of `enum trouble` in tests/link_model/scenario.h.
TROUBLES = {
    "none": 0,
    "idle": 1,
    "reordering": 2,
    "late_losses": 4,
    "spurious": 8,
    "R_m_falls": 16,
    "R_m_grows": 32,
    "R_m_unknown": 64,
    "lazy": 128,
    "merged_acks": 256,
}

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc on this machine")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program that judges a controller, with addresses and undefined behaviour checked unless it is to be fast."""
    built = {}

    def build(name, jitter="1", fast=False):
        key = name, jitter, fast
        if key not in built:
            folder = tmp_path_factory.mktemp(name)
            write(header.make(name, jitter=jitter), "c", folder)
            checked = ["-O2"] if fast else ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
            flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", *checked, f"-I{folder}", f'-DHEADER="{name}.h"']
            built[key] = folder / "link_model"
            subprocess.run(["gcc", *flags, SOURCE, "-o", built[key]], check=True)
        return built[key]

    return build


def judged(built, troubles, seed=1, runs=100, steps=100):
    """How many ends of steps were judged; what was believed falsely, if anything was, fails the test."""
    arguments = [seed, runs, steps, sum(TROUBLES[name] for name in troubles)]
    done = subprocess.run([built, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("name", CONTROLLERS)
def test_beliefs_are_true(name, trouble, program):
    steps = 400 if trouble in ("R_m_grows", "R_m_unknown") else 100
    assert judged(program(name), [trouble], steps=steps) >= 5000


@pytest.mark.parametrize("jitter", ["1/3", "0.333333"])
def test_other_bounds_of_jitter(jitter, program):
    assert judged(program("cc_qdel", jitter), ["none"]) >= 5000
