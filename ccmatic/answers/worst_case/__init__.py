"""The worst value that a network can force on a controller.

The search proves a bound on this value, and finds a trace close to the bound.
"""

from ccmatic.answers.worst_case.edge import UNDECIDED, NoExecution, WorstCase, search
from ccmatic.answers.worst_case.searches import worst, worst_all

__all__ = ["UNDECIDED", "NoExecution", "WorstCase", "search", "worst", "worst_all"]
