"""A token-bucket policer in front of a bottleneck, for window senders."""

from ccmatic.models.policed.laws import LOST, MODEL, Policed

__all__ = ["LOST", "MODEL", "Policed"]
