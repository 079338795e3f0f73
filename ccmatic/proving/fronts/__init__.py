"""Fronts: the controllers of a query that no other controller dominates."""

from ccmatic.proving.fronts.front import Front, find_front

__all__ = ["Front", "find_front"]
