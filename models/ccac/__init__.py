"""CCAC: a token bucket that may hide congestion, with jitter behind it."""

from ccmatic.models.ccac.laws import CCAC, MODEL, served_what_waited, served_within_jitter

__all__ = ["CCAC", "MODEL", "served_what_waited", "served_within_jitter"]
