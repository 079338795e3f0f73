"""Run scenarios in the program of a subject, with limits on time, memory and output, and leave nothing running."""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from ccmatic.base import InputError, shown
from ccmatic.judging import recording, scenario
from ccmatic.judging.recording import Recording
from ccmatic.judging.scenario import Scenario
from ccmatic.judging.subjects import Subject, hosted_library

#: The limits of a program: seconds of a run, bytes of memory, bytes of a file, and bytes of a line.
SECONDS, MEMORY, FILE, LONGEST = 60.0, 4 * 2**30, 2**31, 2**16

#: The packets per second of the slowest program that does not hang. Each packet of a run extends its time limit.
SLOWEST = 20_000

#: The start of a program. Its arguments are the id of this process, and the program's command. On Linux the program is
#: killed when this process dies (PR_SET_PDEATHSIG is 1). It keeps no core dump.
_START = f"""
import ctypes, os, resource, signal, sys
for kind, most in ((resource.RLIMIT_AS, {MEMORY}), (resource.RLIMIT_FSIZE, {FILE}), (resource.RLIMIT_CORE, 0)):
    resource.setrlimit(kind, (most, most))
prctl = getattr(ctypes.CDLL(None), "prctl", None)
if prctl:
    prctl(1, signal.SIGKILL)
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""

#: The beginnings of the lines by which programs in Rust, Go and Python report that they give up.
_PANICS = ("panicked at", "panic:", "fatal error:", "Traceback (most recent", "Error:")

#: The words by which a program, or its language, reports that it got no memory.
_NO_MEMORY = ("memory allocation of", "out of memory", "cannot allocate memory", "MemoryError", "bad_alloc")


class Session:
    """A process that runs the scenarios of a subject, one after the other.

    The process starts with the first run. The process ends with the session, together with all processes that it has
    started.
    """

    def __init__(self, subject: Subject, seconds: float = SECONDS) -> None:
        self._subject, self._seconds = subject, seconds
        self._folder = TemporaryDirectory(prefix="ccmatic-judge-", ignore_cleanup_errors=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = count()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def run(self, plan: Scenario) -> Recording:
        """Run a scenario. If the program panicked, hung, crashed or used up its memory, `failure` states this."""
        adaptor = self._subject.adaptor
        if hasattr(adaptor, "record"):
            return adaptor.record(plan, self._subject)  # type: ignore[no-any-return]
        names = {flow.beside for flow in plan.flows if flow.beside is not None}
        folder = Path(self._folder.name) / str(next(self._numbers))
        folder.mkdir()
        text = scenario.configuration(
            plan, self._subject.argument, {name: hosted_library(name) for name in sorted(names)}
        )
        (folder / "scenario.txt").write_text(text, encoding="utf-8")
        try:
            failure = self._result(folder, self._seconds + scenario.most_packets(plan) / SLOWEST)
            fault = folder / "fault.txt"
            if fault.exists() and (failure is None or (folder / "packets.bin").exists()):
                problem = fault.read_text(errors="replace")
                raise InputError(f"{self._subject.name} calls the path in a wrong way: {problem}")
            return recording.load(folder, plan, self._subject.name, self._subject.program.version, failure)
        except BaseException:
            self.close_process()
            raise
        finally:
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()

    def close(self) -> None:
        """End the process, and remove its files."""
        self.close_process()
        self._folder.cleanup()

    def close_process(self) -> None:
        """Kill the process and all processes of its group."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()

    def _result(self, folder: Path, seconds: float) -> str | None:
        """Let the process run the scenario in a folder, within a time limit. Return its failure, or None."""
        process = self._started()
        assert process.stdin is not None
        try:
            process.stdin.write(f"{folder}\n".encode())
            process.stdin.flush()
        except BrokenPipeError:
            return self._ended()
        line = self._line(process, seconds)
        if line is None:
            self.close_process()
            return f"hung: no result after {seconds:.0f} s"
        if not line.endswith(b"\n"):
            return self._ended(line)
        return self._failure(line)

    def _failure(self, line: bytes) -> str | None:
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict) or not isinstance(value.get("failure", 0), str | None):
            expected = 'a line of JSON with the key "failure", which is null or a text'
            raise InputError(f"{self._subject.name} printed '{_first_line(line)}'; expected {expected}")
        failure = value["failure"]
        return None if failure is None else shown(failure, 400)

    def _line(self, process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
        """Return the next line, or an incomplete line at the end of the output; None if the line takes too long."""
        assert process.stdout is not None
        line, end = b"", time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while (left := end - time.monotonic()) > 0:
                if not selector.select(left):
                    continue
                part = os.read(process.stdout.fileno(), LONGEST)
                line += part
                if not part or line.endswith(b"\n") or len(line) > LONGEST:
                    return line
        return None

    def _ended(self, line: bytes = b"") -> str:
        """Return the failure of a process that ended, or printed too much."""
        process = self._process
        assert process is not None
        with suppress(subprocess.TimeoutExpired):
            process.wait(2)
        code, said = process.poll(), self._errors().read_text(errors="replace")
        self.close_process()
        if code is None:
            raise InputError(f"{self._subject.name} printed '{_first_line(line)}'; expected one line per scenario")
        if any(word in said for word in _NO_MEMORY):
            return f"out of memory: it used more than {MEMORY // 2**30} GiB"
        lines = said.splitlines()
        for number, text in enumerate(lines):
            if "Traceback (most recent" in text:  # the exception is on the last line
                return "panicked: " + shown(lines[-1].strip(), 400)
            if any(word in text for word in _PANICS):
                more = lines[number + 1] if "panicked at" in text and number + 1 < len(lines) else ""
                kind = "" if "panicked at" in text else "panicked: "
                return kind + shown(" ".join([text, more]).strip(), 400)
        if code < 0:
            return f"crashed: {signal.Signals(-code).name}" + (f": {shown(lines[0], 300)}" if lines else "")
        reason = shown(said.strip(), 400) or "it says nothing"
        raise InputError(f"{self._subject.name} ended with code {code} instead of a result: {reason}")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close_process()
        start = [sys.executable, "-I", "-S", "-c", _START, str(os.getpid())]
        with self._errors().open("wb") as errors:
            self._process = subprocess.Popen(
                [*start, *self._subject.command()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        return self._process

    def _errors(self) -> Path:
        return Path(self._folder.name) / "errors"


def _first_line(output: bytes) -> str:
    return shown(output.decode(errors="replace").strip().partition("\n")[0])


def run(subject: Subject, plan: Scenario, seconds: float = SECONDS) -> Recording:
    """Run one scenario; see `Session.run`."""
    with Session(subject, seconds) as session:
        return session.run(plan)
