"""What tests need of a machine, and skip where it lacks it; those that judge real time have it to themselves."""

import os
import shutil

import pytest

from ccmatic.base.errors import InputError
from ccmatic.emulation import kinds, machine
from support.machine import compiler, needs_compiler
from support.turns import turn

# What JAX compiles for tests, also in processes that they start, runs for moments. To optimize it takes longer.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "true")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    with turn(item.get_closest_marker("real_time") or "emulator" in item.fixturenames):
        return (yield)


def _without_compiler():
    """Runs a part of a test, which is skipped if it asks for a C compiler and this machine has none."""
    try:
        return (yield)
    except InputError as error:
        if compiler is None and "C compiler" in error.message:
            pytest.skip(needs_compiler.kwargs["reason"])
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Fixtures simulate, too."""
    return (yield from _without_compiler())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Tests that simulate are skipped by name where this machine has no C compiler."""
    return (yield from _without_compiler())


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
