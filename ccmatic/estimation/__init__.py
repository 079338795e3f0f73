"""What a sender can know of its path (docs/estimates.md)."""

from ccmatic.estimation.estimate import Estimate, estimates, network_of
from ccmatic.estimation.exact import ANY, Possible, Range, possible
from ccmatic.estimation.particles import ParticleFilter, gap_of_all, gap_of_one
from ccmatic.estimation.picture import draw
from ccmatic.estimation.report import line, text
from ccmatic.estimation.signals import Signals, signals

__all__ = [
    "ANY",
    "Estimate",
    "ParticleFilter",
    "Possible",
    "Range",
    "Signals",
    "draw",
    "estimates",
    "gap_of_all",
    "gap_of_one",
    "line",
    "network_of",
    "possible",
    "signals",
    "text",
]
