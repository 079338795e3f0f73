"""What tests need of a machine, and skip where it lacks it."""

import pytest

from ccmatic.emulate import flows, machine
from ccmatic.errors import InputError


@pytest.fixture(scope="session")
def emulator():
    """Skips the tests that emulate where this machine cannot."""
    try:
        machine.require()
        flows.flow("cubic")
        with machine.workplace(1500, 2**20):
            pass
    except InputError as error:
        pytest.skip(str(error))
