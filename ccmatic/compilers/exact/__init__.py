"""A controller's own Python on exact numbers, by which executions are checked."""

from ccmatic.compilers.exact.open_numbers import Open, Unmeasured
from ccmatic.compilers.exact.program import ObservedNumber, ObservedTruth, Program
from ccmatic.compilers.exact.rates import Rates, run_exactly

__all__ = ["ObservedNumber", "ObservedTruth", "Open", "Program", "Rates", "Unmeasured", "run_exactly"]
