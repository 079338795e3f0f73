"""The worst value that a network can force on a controller, by a search that decides both sides of the edge."""

from ccmatic.analysis.worst_case.edge import UNDECIDED, NoExecution, Worst, search
from ccmatic.analysis.worst_case.side_by_side import search_each

__all__ = ["UNDECIDED", "NoExecution", "Worst", "search", "search_each"]
