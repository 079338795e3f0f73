"""A controller's own Python, run on exact numbers. Replay uses it to check executions."""

from ccmatic.worlds.exact.lines import Lines
from ccmatic.worlds.exact.open_numbers import UncertainNumber, UnknownNumber
from ccmatic.worlds.exact.program import ObservedNumber, ObservedTruth, Program
from ccmatic.worlds.exact.rates import Rates, run_exactly

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
