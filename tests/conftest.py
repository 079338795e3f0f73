"""Skip tests whose requirements this machine lacks, and run alone those that depend on real time."""

import gc
import mmap
import os
import shutil
import signal
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from ccmatic.base.errors import InputError
from ccmatic.deployment.emulation import kinds, machine
from support.compiling import compile_once
from support.machine import compiler, needs_compiler
from support.measuring import Measuring
from support.nightly import Nightly
from support.sampling import Draws
from support.turns import turn

# Tests ask solvers. No test may pass because of an answer that an earlier test left in the memory.
os.environ["CCMATIC_MEMORY"] = ""

# A shell starts jobs in the background with SIGINT ignored. Programs that tests start and interrupt would inherit this.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What JAX compiles for tests, also in processes that they start, runs for moments. To optimize it takes longer.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "true")

# XLA compiles in two thirds of the time without these emitters. It ends the process if it does not know an option.
SLOW_EMITTERS = "xla_cpu_use_fusion_emitters"


def knows(option):
    """Return whether the installed XLA has an option."""
    jaxlib = find_spec("jaxlib")
    for library in Path(jaxlib.origin).parent.glob("libjax_common*") if jaxlib else ():
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(option.encode()) >= 0
    return False


if SLOW_EMITTERS not in os.environ.get("XLA_FLAGS", "") and knows(SLOW_EMITTERS):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --{SLOW_EMITTERS}=false".strip()

# Tests compile many programs again that other tests, also of other workers, have compiled.
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")

# What collecting imports and makes stays until the end. The garbage collector need not look at it again and again.
gc.disable()


def pytest_addoption(parser):
    tests = parser.getgroup("ccmatic's tests")
    tests.addoption("--measured", metavar="FILE", help="write what tests cost, and fail if a class exceeds its budget")
    tests.addoption("--nightly", action="store_true", help="run slow tests, those first that have not run for longest")
    tests.addoption("--minutes", type=float, default=float("inf"), help="begin no slow test that would end later")


def pytest_configure(config):
    """Share compiled programs among all workers, until the tests end."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS or config.getoption("measured"):
        os.environ["CCMATIC_TESTS_DRAWN"] = "true"  # for workers, which do not know
    if os.environ.get("CCMATIC_TESTS_DRAWN"):
        config.pluginmanager.register(Draws())
    if config.getoption("measured"):
        config.pluginmanager.register(Measuring(config))
    if config.getoption("nightly"):
        config.option.markexpr = "slow"
        config.pluginmanager.register(Nightly(config, config.getoption("minutes")))
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        compiled = tempfile.TemporaryDirectory(prefix="ccmatic-compiled-")
        config.add_cleanup(compiled.cleanup)
        os.environ["JAX_COMPILATION_CACHE_DIR"] = compiled.name
    if "PYTEST_XDIST_WORKER" not in os.environ:
        programs = tempfile.TemporaryDirectory(prefix="ccmatic-programs-")
        config.add_cleanup(programs.cleanup)
        compile_once(programs.name)


def pytest_collection_finish():
    """Let the garbage collector look at what tests make, and at nothing older."""
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Start one worker more than there are cores: many tests wait for a clock or for another process."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Name each file that is skipped: pytest-xdist names only one of those that are skipped at one place."""
    report = yield
    if report.skipped and isinstance(collector, pytest.File):
        report.longrepr = (str(collector.path), 1, report.longrepr[2])
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    with turn(item.get_closest_marker("real_time")):
        return (yield)


def _without_compiler():
    """Run a part of a test; skip the test if it requires a C compiler and this machine has none."""
    try:
        return (yield)
    except InputError as error:
        if compiler is None and "C compiler" in error.message:
            pytest.skip(needs_compiler.kwargs["reason"])
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Skip a test by name if a fixture of it requires a C compiler and this machine has none."""
    return (yield from _without_compiler())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Skip a test by name if it requires a C compiler and this machine has none."""
    return (yield from _without_compiler())


@pytest.fixture(scope="session")
def emulator():
    """Skip tests that emulate if this machine cannot."""
    try:
        machine.require()
        kinds.flow("cubic")
        with machine.workplace(1500, 2**20):
            pass
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def iperf3(emulator):
    """Skip tests that emulate the kernel's flows if this machine has no iperf3."""
    if not shutil.which("iperf3"):
        pytest.skip("no iperf3 on this machine")
