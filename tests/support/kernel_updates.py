"""Exported controllers whose steps are worked out in this kernel, by a BPF program."""

import shutil
import subprocess
from struct import pack

from ccmatic.deployment.exporting.targets import write
from ccmatic.worlds.runtime.library import StatefulSender
from support import ROOT

SOURCES = ROOT / "tests" / "stateful_update"


class Recorded(StatefulSender):
    """A sender that also records each step: the input of the kernel's program, and the expected result."""

    def __init__(self, library, packet):
        super().__init__(library, packet)
        self.given, self.made = [], []

    def step(self, seen):
        """Record the observations of a completed step."""
        self.given.append(bytes(seen) + bytes(16) + self._bytes())
        super().step(seen)
        self.made.append(bytes(seen) + pack("<QQ", self.window(), self.rate_per_step()) + self._bytes())

    def _bytes(self):
        return self._state.raw[: self._library["size"]()]


def build(export, folder):
    """The command that works out the steps in its standard input."""
    write(export, "bpf", folder)
    for source in SOURCES.iterdir():
        shutil.copy(source, folder)
    program = ["clang", "-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-c", "-o", "update.o", "update.bpf.c"]
    for command in (program, ["cc", "-o", "run", "run.c", "-lbpf"]):
        subprocess.run(command, cwd=folder, check=True)
    return [folder / "run", folder / "update.o"]


def check(command, senders):
    """Let the kernel work out the steps of Recorded senders anew: state, window and rate are theirs."""
    given, made = (b"".join(record for each in senders for record in getattr(each, name)) for name in ("given", "made"))
    assert subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True).stdout == made
