"""The worst value that a network can force on a controller, by search to a resolution, both sides of the edge asked."""

from ccmatic.analysis.worst_case.edge import UNDECIDED, NoExecution, Worst, search

__all__ = ["UNDECIDED", "NoExecution", "Worst", "search"]
