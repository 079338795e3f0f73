"""quiche, whole: client, server, TLS of BoringSSL and loss detection. The program gives quiche a clock of its own."""

from collections.abc import Mapping
from pathlib import Path

from ccmatic.judging.adaptors.cargo import Crate, WholeStack

#: The minor versions with several patches, and the numbers of these patches. Every other version ends with 0.
_PATCHES = {17: (1, 2), 19: (0, 1, 2), 20: (0, 1, 2), 23: (*range(8),), 24: (*range(10),), 26: (0, 1)}


def _differences(folder: Path) -> Mapping[str, str]:
    return {"CCMATIC_HAS": "paths" if "pub fn path_stats" in (folder / "src" / "lib.rs").read_text() else ""}


class Adaptor(WholeStack):
    """The adaptor of quiche.

    Its sources support the versions from 0.9.0 on. `bbr` and `bbr2` are one controller from 0.24.7 on.
    """

    stack = "quiche"
    controllers = ("cubic", "reno", "bbr", "bbr2")
    toolchain = "cargo 1.85, cmake, a C++ compiler"
    crate = Crate("quiche", "0.28.0", _differences)
    notes = (
        "datagrams leave at the instant that quiche's pacing gives them",
        "MTU discovery and greasing are off; quiche uses no ECN",
        "no idle timeout; flow control limits no flow",
        "the application keeps as much data ready as quiche takes",
    )

    def versions(self) -> tuple[str, ...]:
        return tuple(f"0.{minor}.{patch}" for minor in range(9, 29) for patch in _PATCHES.get(minor, (0,)))
