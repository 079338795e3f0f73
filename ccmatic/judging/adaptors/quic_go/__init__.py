"""The adaptor of quic-go, which runs client and server whole."""
