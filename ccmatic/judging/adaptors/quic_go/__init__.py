"""quic-go, whole: client, server, TLS and loss detection in a bubble of virtual time (Go's testing/synctest)."""

from ccmatic.judging.adaptors.golang import WholeStack


class Adaptor(WholeStack):
    """The adaptor of quic-go.

    Its sources support the versions from v0.44.0 on.
    """

    stack, path, version, oldest = "quic-go", "github.com/quic-go/quic-go", "0.65.0", (0, 44, 0)
    controllers = ("reno", "cubic")
    notes = (
        "GSO, ECN and MTU discovery are off: quic-go offers them only on sockets of the kernel",
        "packets have at most 1308 bytes, quic-go's size before MTU discovery",
        "idle and handshake timeouts are a day; flow control limits no flow",
        "windows are read from private fields; `cubic` clears the private field `reno`, which quic-go always sets",
    )
