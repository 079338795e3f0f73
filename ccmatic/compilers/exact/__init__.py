"""A controller's own Python, run on exact numbers. Replay uses it to check executions."""

from ccmatic.compilers.exact.lines import Lines
from ccmatic.compilers.exact.open_numbers import UncertainNumber, UnknownNumber
from ccmatic.compilers.exact.program import ObservedNumber, ObservedTruth, Program
from ccmatic.compilers.exact.rates import Rates, run_exactly

__all__ = [
    "Lines",
    "ObservedNumber",
    "ObservedTruth",
    "Program",
    "Rates",
    "UncertainNumber",
    "UnknownNumber",
    "run_exactly",
]
