"""The adaptor of s2n-quic-core."""
