"""A controller's own Python on exact numbers, by which executions are checked."""

from ccmatic.compilers.exact.program import Program, Seen, SeenTruth, Unmeasured
from ccmatic.compilers.exact.rates import Rates, run_exactly

__all__ = ["Program", "Rates", "Seen", "SeenTruth", "Unmeasured", "run_exactly"]
