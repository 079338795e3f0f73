"""SCTP of pion, whole: client, server and loss detection in a bubble of virtual time (Go's testing/synctest)."""

from ccmatic.judging.adaptors.golang import WholeStack


class Adaptor(WholeStack):
    """The adaptor of pion/sctp.

    Its sources support the versions from v1.8.19 on.
    """

    stack, path, version, oldest = "pion", "github.com/pion/sctp", "1.12.1", (1, 8, 19)
    controllers = ("sctp",)
    notes = (
        "SCTP over UDP, without DTLS; packets have the size that pion chooses, about 1200 bytes",
        "flow control limits no flow; the application keeps 16 messages ready beyond the window",
        "SCTP's window may fall to one packet (RFC 9260, 7.2.3)",
    )
