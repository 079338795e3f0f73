"""A link that also loses bytes by chance, for window senders."""

from ccmatic.models.lossy_windows.laws import MODEL, LossyWindows

__all__ = ["MODEL", "LossyWindows"]
