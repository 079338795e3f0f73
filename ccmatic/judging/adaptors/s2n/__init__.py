"""The controllers of s2n-quic-core, alone under a sender of RFC 9002."""

from collections.abc import Mapping
from pathlib import Path

from ccmatic.judging.adaptors.cargo import Crate, build
from ccmatic.judging.builds import controller_command
from ccmatic.judging.subjects import Program

#: The differences between versions: a name for the adaptor's build script, a file, and a text that the file contains if
#: the version has the feature.
_DIFFERENCES = (
    ("app_settings", "cubic.rs", "app_settings"),
    ("initial_rtt", "rtt_estimator.rs", "pub fn new(initial_rtt"),
    ("on_bbr_state_changed", "congestion_controller.rs", "fn on_bbr_state_changed"),
    ("publisher", "congestion_controller.rs", "pub trait Publisher"),
)


class Adaptor:
    """The adaptor of s2n-quic-core.

    Its sources support the versions from 0.10.0 on.
    """

    stack = "s2n"
    controllers = ("cubic", "bbr")
    toolchain = "cargo 1.95"
    version = "0.91.0"

    def versions(self) -> tuple[str, ...]:
        """Return the released versions that the sources support, oldest first.

        Versions from 0.13.0 to 0.18.1 are left out: they need a version of another crate that was withdrawn.
        """
        patched = {27: (0, 1), 35: (0, 1), 38: (0, 1), 44: (0, 1), 52: (0, 1), 29: ()}
        later = (f"0.{minor}.{patch}" for minor in range(19, 92) for patch in patched.get(minor, (0,)))
        return ("0.10.0", "0.10.1", "0.10.2", "0.11.0", "0.12.0", "0.18.2", *later)

    def build(self, version: str | None = None, source: Path | None = None) -> Program:
        library, built = build(
            Path(__file__).parent, Crate("s2n-quic-core", self.version, _differences), version, source
        )
        return Program(
            controller_command(library),
            f"s2n-quic-core {built}",
            (
                "the controllers alone, under a sender of RFC 9002",
                "the retransmission that s2n allows beyond the window when a recovery begins is not sent",
                "the controllers' own pacing",
            ),
        )


def _differences(folder: Path) -> Mapping[str, str]:
    recovery = folder / "src" / "recovery"
    return {"CCMATIC_HAS": ",".join(name for name, file, text in _DIFFERENCES if text in (recovery / file).read_text())}
