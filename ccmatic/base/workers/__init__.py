"""Parallel work on several processes, or on the machines of a cluster."""

from ccmatic.base.workers.team import Team

__all__ = ["Team"]
