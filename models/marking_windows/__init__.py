"""A link that marks the packets which find a long queue, for window senders."""

from ccmatic.models.marking_windows.laws import MODEL, MarkingWindows

__all__ = ["MODEL", "MarkingWindows"]
