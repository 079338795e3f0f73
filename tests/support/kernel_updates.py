"""Exported controllers whose steps are worked out in this kernel, by a BPF program."""

import ctypes
import shutil
import subprocess
from contextlib import contextmanager
from struct import unpack

from ccmatic.codegen.files import write
from ccmatic.codegen.stateful_library import Seen, StatefulSender
from support import ROOT

SOURCES = ROOT / "tests" / "stateful_update"


class InKernel(StatefulSender):
    """As its base, but for `step`."""

    def __init__(self, library, packet, process):
        super().__init__(library, packet)
        self._process = process

    def step(self, seen):
        """A step is over, in which this was Seen; window and rate are as the C would have them, too."""
        record = bytes(seen) + bytes(16) + self._state.raw[: self._library["size"]()]
        self._process.stdin.write(record)
        self._process.stdin.flush()
        made = self._process.stdout.read(len(record))[ctypes.sizeof(Seen) :]
        ctypes.memmove(self._state, made[16:], len(made) - 16)
        assert unpack("<QQ", made[:16]) == (self.window(), self.rate_per_step())


@contextmanager
def running(export, folder):
    """The process that InKernel asks."""
    write(export, "bpf", folder)
    for source in SOURCES.iterdir():
        shutil.copy(source, folder)
    program = ["clang", "-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-c", "-o", "update.o", "update.bpf.c"]
    for command in (program, ["cc", "-o", "run", "run.c", "-lbpf"]):
        subprocess.run(command, cwd=folder, check=True)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([folder / "run", folder / "update.o"], **pipes) as process:
        yield process
        process.stdin.close()
