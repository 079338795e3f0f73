"""What tests need of a machine, and skip where it lacks it."""

import shutil

import pytest

from ccmatic.base.errors import InputError
from ccmatic.emulate import kinds, machine


@pytest.fixture(scope="session")
def emulator():
    """Skips the tests that emulate where this machine cannot."""
    try:
        machine.require()
        kinds.flow("cubic")
        with machine.workplace(1500, 2**20):
            pass
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def iperf3(emulator):
    """Skips the tests that emulate the kernel's flows where this machine cannot."""
    if not shutil.which("iperf3"):
        pytest.skip("no iperf3 on this machine")


def on_time(attempt, lateness):
    """What an attempt at a run gives. One that the machine held up, as others used it, is made again; after three
    of them the test is skipped. lateness: of what it gives, the 50th and the 99th percentile in ms."""
    for _ in range(3):
        found = attempt()
        median, late = lateness(found)
        if median < 1 and late < 20:
            return found
    pytest.skip(f"this machine stalls: packets of three runs were late, of the last 1 % by over {late:.0f} ms")
