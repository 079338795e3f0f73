"""The adaptor of quiche."""
