"""A path that changes once: an outage, and then another rate, R_m or buffer, for window senders."""

from ccmatic.models.changing_windows.laws import MODEL, OUTAGE, SINCE, ChangingWindows, Queue

__all__ = ["MODEL", "OUTAGE", "SINCE", "ChangingWindows", "Queue"]
