"""Programs that misbehave get one clear message, leave nothing running, and the session goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.judging import builds, running, subjects
from ccmatic.judging.scenario import Scenario
from support.machine import needs_compiler
from support.scenarios import MS, SECOND

pytestmark = needs_compiler

PLAN = Scenario(duration=SECOND, rate=24_000_000, rtt=40 * MS, buffer=60_000, jitter=10 * MS)

TOY = """
class Controller:
    def __init__(self, name, seed, packet):
        self.size, self.threshold, self.recovery, self.packet = 10 * packet, 1 << 60, -1, packet
    def acked(self, event):
        if event.sent > self.recovery:
            grows = event.bytes if self.size < self.threshold else self.packet * event.bytes // self.size
            self.size += grows
    def lost(self, event):
        if event.sent > self.recovery:
            self.recovery = event.now
            self.size = self.threshold = max(self.size // 2, 2 * self.packet)
    def window(self):
        return self.size
"""


def toy(folder, text=TOY):
    file = folder / "toy.py"
    file.write_text(text)
    return subjects.subject(str(file))


def failing(folder, line):
    """A subject whose controller runs a line of Python at an acknowledgement, 0.2 s after the beginning."""
    late = f"        if event.now > 200_000_000:\n            {line}\n"
    return toy(folder, TOY.replace("def acked(self, event):\n", f"def acked(self, event):\n{late}"))


def test_a_controller_in_python_is_that_of_c(tmp_path):
    runs = [running.run(subject, PLAN) for subject in (toy(tmp_path), toy(tmp_path))]
    assert runs[0].failure is None and list(runs[0].faults()) == []
    assert np.array_equal(runs[0].packets, runs[1].packets)


def test_an_exception_is_a_failure_with_its_line(tmp_path):
    recording = running.run(failing(tmp_path, "1 // 0"), PLAN)
    assert recording.failure.startswith("panicked at toy.py:7: ZeroDivisionError")
    assert len(recording.packets) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{TOY}\nimport json\njson.loads('x')\n", "panicked at toy.py:17: JSONDecodeError: Expecting value"),
        (f"{TOY}\nraise ValueError('no table')\n", "panicked at toy.py:16: ValueError: no table"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_a_failure_with_its_exception(tmp_path, text, says):
    """The failure was the first line of a traceback, which names no exception."""
    assert running.run(toy(tmp_path, text), PLAN).failure.startswith(says)


def test_nonsense_from_a_controller_is_a_failure(tmp_path):
    recording = running.run(toy(tmp_path, TOY.replace("return self.size", "return 'large'")), PLAN)
    assert "panicked at toy.py" in recording.failure and "__index__" in recording.failure


@pytest.mark.parametrize("window", [2**70, -5])
def test_a_window_that_c_code_would_cut_off_is_a_failure(tmp_path, window):
    recording = running.run(toy(tmp_path, TOY.replace("return self.size", f"return {window}")), PLAN)
    assert f"window() returned {window}; expected 0 to 2^63 - 1" in recording.failure


def test_a_hang_is_a_failure_and_the_session_goes_on(tmp_path):
    flag = tmp_path / "hang"
    flag.touch()
    subject = failing(tmp_path, f"while __import__('os').path.exists({str(flag)!r}): __import__('time').sleep(0.01)")
    with running.Session(subject, seconds=5) as session:
        assert session.run(PLAN).failure == "hung: no result after 5 s"
        flag.unlink()
        assert session.run(PLAN).failure is None


def test_memory_without_end_is_a_failure(tmp_path):
    recording = running.run(failing(tmp_path, "self.room = bytearray(8 << 30)"), PLAN)
    assert recording.failure == "out of memory: it used more than 4 GiB"


def program(folder, script):
    """A subject whose program is a shell script."""
    file = folder / "program"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o700)

    class Adaptor:
        stack, controllers, toolchain, version = "toy", ("toy",), "sh", "1"

        def build(self, version=None, source=None):
            return subjects.Program((str(file),), "toy 1")

    return subjects.Subject("toy:toy", Adaptor(), "toy", "toy")


@pytest.mark.parametrize(
    "script, message",
    [
        ("read line; echo hello", "toy:toy printed 'hello'; expected a line of JSON"),
        ("read line; echo '{\"failure\": 3}'", "expected a line of JSON"),
        ("read line; echo '{\"failure\": null}'", "the run has no record"),
        ("read line; echo no such scenario >&2; exit 3", "ended with code 3 instead of a result: no such scenario"),
        ("read line; tr '\\0' x < /dev/zero", "toy:toy printed 'xxx"),
        ("read line; yes", "toy:toy printed 'y'; expected "),
    ],
)
def test_nonsense_from_a_program_is_one_error(tmp_path, script, message):
    with pytest.raises(InputError) as error, running.Session(program(tmp_path, script)) as session:
        session.run(PLAN)
    assert message in str(error.value) and len(str(error.value)) < 700


@pytest.mark.parametrize(
    "script, failure",
    [
        ("read line; kill -SEGV $$", "crashed: SIGSEGV"),
        ("read line; echo \"thread 'main' panicked at src/x.rs:3:5:\" >&2; echo 'index 3' >&2; exit 101", "index 3"),
        (
            "read line; echo 'Traceback (most recent call last):\n  File 1\nKeyError: 7' >&2; exit 1",
            "panicked: KeyError: 7",
        ),
        ("read line; echo 'panic: runtime error: index out of range' >&2; exit 2", "panicked: panic: runtime error"),
        ('read line; echo \'{"failure": "closed: idle"}\'', "closed: idle"),
    ],
)
def test_crashes_are_failures(tmp_path, script, failure):
    with running.Session(program(tmp_path, script)) as session:
        assert failure in session.run(PLAN).failure


def test_nothing_is_left_running(tmp_path):
    pids = tmp_path / "pids"
    subject = program(tmp_path, f"sleep 1000 & echo $! > {pids}; read line; wait")
    with running.Session(subject, seconds=1) as session:
        assert session.run(PLAN).failure.startswith("hung")
    pid, end = int(pids.read_text()), time.monotonic() + 5
    while time.monotonic() < end and _runs(pid):
        time.sleep(0.05)
    assert not _runs(pid)


#: A process that judges a controller which never answers.
JUDGES = """
from ccmatic.judging import running, subjects
from ccmatic.judging.scenario import Scenario
plan = Scenario(duration=10**9, rate=24_000_000, rtt=40_000_000, buffer=60_000)
running.run(subjects.subject({file!r}), plan)
"""


def test_a_program_dies_with_the_process_that_judges(tmp_path):
    pids = tmp_path / "pids"
    line = f"open({str(pids)!r}, 'w').write(str(__import__('os').getpid()))"
    failing(tmp_path, f"{line}\n            while True: pass")
    judge = subprocess.Popen([sys.executable, "-c", JUDGES.format(file=str(tmp_path / "toy.py"))])
    end = time.monotonic() + 50
    while not (pids.exists() and pids.read_text()) and time.monotonic() < end:
        time.sleep(0.1)
    pid = int(pids.read_text())
    assert _runs(pid)
    judge.kill()
    judge.wait()
    end = time.monotonic() + 10
    while _runs(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_the_cache_may_be_deleted_at_any_time(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with running.Session(subjects.subject("reno")) as session:
        first = session.run(PLAN)
        subprocess.run(["rm", "-rf", str(tmp_path / "ccmatic")], check=True)
        assert np.array_equal(session.run(PLAN).packets, first.packets)
        session.close_process()
        assert np.array_equal(session.run(PLAN).packets, first.packets)
    assert not list((tmp_path / "ccmatic" / "judge").glob(".partial*"))


def test_a_build_that_fails_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def make(folder):
        (folder / "half").touch()
        raise InputError("no compiler")

    with pytest.raises(InputError, match="no compiler"):
        builds.built("toy", ["1"], make)
    assert list(builds.cache().iterdir()) == []


@pytest.mark.parametrize(
    "text, message",
    [
        ("nonesuch:cubic", "there is no subject 'nonesuch:cubic'; known: "),
        ("kubic", "there is no subject 'kubic'; did you mean 'cubic'"),
        ("cc_qdel_wide", "expected cc_qdel_wide:upper or cc_qdel_wide:lower or cc_qdel_wide:drawn"),
        ("cubic:upper", "cubic is no envelope; expected cubic alone, found cubic:upper"),
        ("./nonesuch.so", "no such file"),
        ("", "there is no subject ''; known: "),
    ],
)
def test_unknown_subjects_get_one_message(text, message):
    with pytest.raises(InputError) as error:
        _ = subjects.subject(text).program
    assert message in str(error.value)


def test_an_interrupt_ends_the_program(tmp_path):
    pids = tmp_path / "pids"
    subject = program(tmp_path, f"echo $$ > {pids}; sleep 1000")

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1)
        with pytest.raises(KeyboardInterrupt), running.Session(subject) as session:
            session.run(PLAN)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not _runs(int(pids.read_text()))
