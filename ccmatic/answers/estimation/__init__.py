"""Estimate how much a sender can know about its path (docs/reference/estimate.md)."""

from ccmatic.answers.estimation.estimate import Estimate, estimates, network_of
from ccmatic.answers.estimation.exact import ANY, PossibleValues, Range, possible
from ccmatic.answers.estimation.particle_filter import ParticleFilter, gap_of_all, gap_of_one
from ccmatic.answers.estimation.picture import draw
from ccmatic.answers.estimation.report import line, text
from ccmatic.answers.estimation.signals import Signals, signals

__all__ = [
    "ANY",
    "Estimate",
    "ParticleFilter",
    "PossibleValues",
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
