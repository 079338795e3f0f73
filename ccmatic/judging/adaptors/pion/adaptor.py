"""SCTP of pion, whole: client, server and loss detection in a bubble of virtual time (Go's testing/synctest)."""

from pathlib import Path

from ccmatic.judging.adaptors.golang import Module
from ccmatic.judging.subjects import Program

#: The features that every run uses in another way than pion does by default, and the differences from QUIC.
_NOTES = (
    "SCTP over UDP, without DTLS; packets have the size that pion chooses, about 1200 bytes",
    "flow control limits no flow; the application keeps 16 messages ready beyond the window",
    "SCTP's window may fall to one packet (RFC 9260, 7.2.3)",
)

_MODULE = Module("pion", "github.com/pion/sctp", "1.12.1", (1, 8, 19))


class Adaptor:
    """The adaptor of pion/sctp.

    Its sources support the versions from v1.8.19 on.
    """

    stack = "pion"
    controllers = ("sctp",)
    toolchain = "go 1.26"
    version = _MODULE.version

    def versions(self) -> tuple[str, ...]:
        """Return the released versions that the adaptor supports, oldest first; see `Module.versions`."""
        return _MODULE.versions()

    def build(self, version: str | None = None, source: Path | None = None) -> Program:
        """Build the program; see `ccmatic.judging.subjects.Adaptor`."""
        program, release = _MODULE.build(Path(__file__).parent, version, source)
        return Program((str(program), "-test.run=TestAdaptor"), release, _NOTES)
