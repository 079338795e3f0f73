"""A token-bucket policer for window senders."""

from ccmatic.models.policer_windows.laws import MODEL, PolicerWindows

__all__ = ["MODEL", "PolicerWindows"]
