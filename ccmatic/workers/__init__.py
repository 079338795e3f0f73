"""Parallel work on several processes, or on the machines of a cluster."""

from ccmatic.workers.team import Team

__all__ = ["Team"]
