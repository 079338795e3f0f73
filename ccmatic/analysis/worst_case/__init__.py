"""The worst value that a network can force on a controller. The search decides both sides of this edge value."""

from ccmatic.analysis.worst_case.edge import UNDECIDED, NoExecution, Worst, search
from ccmatic.analysis.worst_case.side_by_side import search_each

__all__ = ["UNDECIDED", "NoExecution", "Worst", "search", "search_each"]
