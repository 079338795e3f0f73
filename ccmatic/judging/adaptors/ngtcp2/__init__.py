"""The adaptor of ngtcp2, which runs client and server whole."""
