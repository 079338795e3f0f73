"""Congestion controls of this machine's kernel as subjects, in real time over an emulated link."""

from pathlib import Path
from typing import TYPE_CHECKING

from ccmatic.base import InputError

if TYPE_CHECKING:
    from ccmatic.judging.subjects import Program


class Adaptor:
    """The adaptor of the kernel, which needs no build."""

    stack, toolchain, version = "kernel", "root, ip and iperf3", "of this machine"
    controllers: tuple[str, ...] = ()

    def build(self, version: str | None = None, source: Path | None = None) -> "Program":
        """Return the version of the kernel. The result has no program that runs scenarios."""
        raise InputError("the kernel's congestion controls are not judged yet")
