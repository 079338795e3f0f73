"""The adaptor of quinn-proto."""
