"""The adaptor of pion/sctp."""
