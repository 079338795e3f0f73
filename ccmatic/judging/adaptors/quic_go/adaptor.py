"""quic-go, whole: client, server, TLS and loss detection in a bubble of virtual time (Go's testing/synctest)."""

from pathlib import Path

from ccmatic.judging.adaptors.golang import Module
from ccmatic.judging.subjects import Program

#: The features that every run switches off, or uses in another way than quic-go does by default.
_NOTES = (
    "GSO, ECN and MTU discovery are off: quic-go offers them only on sockets of the kernel",
    "packets have at most 1308 bytes, quic-go's size before MTU discovery",
    "idle and handshake timeouts are a day; flow control limits no flow",
    "windows are read from private fields; `cubic` clears the private field `reno`, which quic-go's API always sets",
)

_MODULE = Module("quic-go", "github.com/quic-go/quic-go", "0.65.0", (0, 44, 0))


class Adaptor:
    """The adaptor of quic-go.

    Its sources support the versions from v0.44.0 on.
    """

    stack = "quic-go"
    controllers = ("reno", "cubic")
    toolchain = "go 1.26"
    version = _MODULE.version

    def versions(self) -> tuple[str, ...]:
        """Return the released versions that the adaptor supports, oldest first; see `Module.versions`."""
        return _MODULE.versions()

    def build(self, version: str | None = None, source: Path | None = None) -> Program:
        """Build the program; see `ccmatic.judging.subjects.Adaptor`."""
        program, release = _MODULE.build(Path(__file__).parent, version, source)
        return Program((str(program), "-test.run=TestAdaptor"), release, _NOTES)
