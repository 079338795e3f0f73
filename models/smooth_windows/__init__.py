"""An ideal link whose rate changes only within a budget."""

from ccmatic.models.smooth_windows.laws import MODEL, Smooth

__all__ = ["MODEL", "Smooth"]
