"""Ctrl-C, wherever it comes: within two seconds, exit code 130 and one line."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from ccmatic.deployment.emulation.machine import alive
from support import ROOT
from support.machine import watched
from support.sampling import each_nth

pytestmark = pytest.mark.real_time

#: A package in place of a real one: it says when it is being imported, and swallows what interrupts it, as some do.
SWALLOWS = """\
import sys, time
print("importing", flush=True)
try:
    time.sleep(60)
except BaseException:
    raise ImportError
"""


@pytest.fixture
def begin(tmp_path):
    """Start `ccmatic …`. The end of the test ends it."""
    begun = []

    def start(*arguments, **more):
        command = [sys.executable, "-m", "ccmatic", *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        begun.append(subprocess.Popen(command, cwd=tmp_path, start_new_session=True, **pipes, **more))
        return begun[-1]

    yield start
    for process in begun:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def ends(process, everyone=False):
    """Interrupt it, or all of its group as a terminal does: how it ends."""
    with watched() as late, own_time(process.pid) as seconds:
        (os.killpg if everyone else os.kill)(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
        took = seconds()
    assert (process.returncode, err.strip()) == (130, "ccmatic: interrupted")
    assert took < 2 + max(late) / 1000


@contextmanager
def own_time(*pids):
    """Gives a function that says how many seconds have passed in which none of these processes was ready to run but
    waited for a processor that others used. The kernel counts that."""
    begun, over = time.monotonic(), Event()
    before = {pid: waited(pid) for pid in pids}
    longest = dict.fromkeys(pids, 0.0)

    def watch():
        while not over.wait(0.005):
            for pid in pids:
                longest[pid] = max(longest[pid], waited(pid) - before[pid])

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield lambda: time.monotonic() - begun - max(longest.values())
    finally:
        over.set()
        watcher.join()


def waited(pid):
    """Seconds that a process has waited for a processor so far; 0 once it has ended."""
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    return 0.0


@pytest.mark.parametrize("package", each_nth(2, ["click", "pysmt", "z3"]))
def test_during_imports(package, begin, tmp_path):
    (tmp_path / f"{package}.py").write_text(SWALLOWS)
    network = ["--model", "ccac", "--buffer", "any", "--horizon", "5"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    process = begin("verify", "always_double", *network, env=environment)
    assert "importing\n" in iter(process.stdout.readline, "")
    ends(process)


def at_work(pid, seconds=0.3):
    """Wait until it has used some seconds of a processor, not counting imports."""
    while "libz3" not in Path(f"/proc/{pid}/maps").read_text():
        time.sleep(0.05)
    begun = worked(pid)
    while worked(pid) < begun + seconds:
        time.sleep(0.05)


def worked(pid):
    """Seconds of a processor that a process has used."""
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, numbers[11:13])) / os.sysconf("SC_CLK_TCK")


SOLVING = ["--buffer", ">=5", "--horizon", "18", "--constrain-loss", "always"]
EXPECTED = ["--expect", "queue <= 1 bdp", "--expect", "utilisation >= 50%"]


@pytest.mark.parametrize("options", [
    pytest.param(["--buffer", "any", "--horizon", "200"], id="encoding", marks=pytest.mark.slow),
    pytest.param(SOLVING, id="solving"),
    pytest.param([*SOLVING, "--timeout", "60"], id="solving in time", marks=pytest.mark.slow),
])  # fmt: skip
def test_while_verifying(options, begin):
    process = begin("verify", "cc_probe_qdel", "--model", "ccac", *options)
    at_work(process.pid, 1)
    ends(process)


@pytest.mark.slow
def test_while_the_worst_is_looked_for(begin):
    asked = ["--model", "ccac2021", "--buffer", "1", "--period", "20"]
    process = begin("worst", "aimd", *asked)
    at_work(process.pid, 1)
    ends(process)


#: Destructors: of an object that was interrupted while it was made, which misses what was not set
#: yet, and one that swallows the interrupt itself.
CUT_OFF = {
    "half made": "__init__(self): interrupt()\n    def __del__(self): self.missing",
    "swallowed": "__del__(self): interrupt()",
}


@pytest.mark.parametrize("methods", CUT_OFF.values(), ids=CUT_OFF)
def test_a_destructor_says_nothing_and_swallows_no_interrupt(methods, tmp_path):
    (tmp_path / "cut_off.py").write_text(
        "import os, signal, time\n"
        "from ccmatic import __main__ as program\n"
        "def interrupt():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "class CutOff:\n"
        f"    def {methods}\n"
        "signal.signal(signal.SIGINT, program._interrupt)\n"
        "try:\n"
        "    CutOff()\n"
        "    time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    done = subprocess.run([sys.executable, "cut_off.py"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


@pytest.mark.parametrize(
    "asked",
    each_nth(
        4,
        [
            ["synth", "g6", "--json"],
            ["verify", "cc_probe_qdel", "cc_probe_qdel", "--model", "ccac", *SOLVING],
            ["prove", "cc_qdel", "cc_probe_slow"],
            ["worst", "aimd", "--on", "ccac2021, buffer 1 bdp", "--horizon", "30", *EXPECTED],
        ],
    ),
    ids=lambda asked: asked[0],
)
def test_while_asking_with_two_jobs(asked, begin):
    """A terminal interrupts the workers, too: nothing of theirs is printed, and none is left."""
    process = begin(*asked, "--jobs", "2")
    while len(workers := workers_of(process.pid)) < 2:
        time.sleep(0.05)
    for worker in workers:
        at_work(worker)
    ends(process, everyone=True)
    assert are_gone(workers)


@pytest.mark.parametrize("everyone", [
    pytest.param(True, id="by a terminal"), pytest.param(False, id="by a signal", marks=pytest.mark.slow),
])  # fmt: skip
def test_while_evaluating(everyone, begin):
    process = begin("evaluate", "cc_qdel", "--jobs", "2")
    process.stdout.readline()
    workers = workers_of(process.pid)
    ends(process, everyone)
    assert len(workers) == 2 and are_gone(workers)


def test_workers_end_with_an_evaluation_that_is_killed(begin):
    """Which cannot end them itself."""
    process = begin("evaluate", "cc_qdel", "--jobs", "2")
    process.stdout.readline()
    workers = workers_of(process.pid)
    process.kill()
    process.communicate(timeout=60)
    assert len(workers) == 2 and are_gone(workers)


def workers_of(pid):
    """The processes that a process does its work on."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def are_gone(workers):
    """They end within a second of their parent."""
    with own_time(*workers) as seconds:
        while any(map(alive, workers)):
            if seconds() > 1:
                return False
            time.sleep(0.01)
    return True


def test_an_interrupt_within_a_call_of_a_solver_is_one():
    """ctypes turns it into an error of its own."""
    from ctypes import CDLL, ArgumentError

    from ccmatic.cli.commands import _is_interrupt

    class Interrupted:
        @classmethod
        def from_param(cls, value):
            raise KeyboardInterrupt

    function = CDLL(None).abs
    function.argtypes = [Interrupted]
    with pytest.raises(ArgumentError) as error:
        function(1)
    assert _is_interrupt(error.value) and not _is_interrupt(ArgumentError("argument 1: TypeError: wrong type"))


def test_the_program_catches_interrupts_before_it_imports_other_modules():
    """An interrupt in the first 0.05 s printed a traceback. Without `site`, whose imports are Python's own."""
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); before = {{*sys.modules}}\n"
        "import ccmatic.__main__; print(*{*sys.modules} - before)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    assert {"ccmatic", "ccmatic.__main__", "signal"} <= {*done.stdout.split()}
    assert {*done.stdout.split()} & {"threading", "typing", "pathlib", "re", "importlib.util"} == set()
