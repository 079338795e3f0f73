"""Congestion controls of this machine's kernel as subjects."""

import os
from pathlib import Path
from typing import Any

from ccmatic.base import InputError
from ccmatic.judging.programs import Program
from ccmatic.judging.recording import Recording
from ccmatic.judging.scenario import Scenario


class Adaptor:
    """The adaptor of the kernel, which runs scenarios itself."""

    stack, toolchain, version = "kernel", "root, ip and iperf3", "this machine's"
    controllers: tuple[str, ...] = ()

    def build(self, version: str | None = None, source: Path | None = None) -> Program:
        """Return the version of the kernel, and no command."""
        if version or source:
            raise InputError("the kernel is that of this machine; expected neither --version nor --source")
        return Program((), f"Linux {os.uname().release}", ("in real time over an emulated link",))

    def record(self, plan: Scenario, subject: Any) -> Recording:
        """Run a scenario, as `ccmatic.judging.emulated.record` does."""
        from ccmatic.judging.emulated import record  # imported here: slow to import, and only the kernel needs it

        return record(plan, subject)
