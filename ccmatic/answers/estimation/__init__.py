"""Estimate how much a sender can know about its path (docs/reference/estimate.md)."""

from ccmatic.answers.estimation import particle_filter
from ccmatic.answers.estimation.exact import ANY, PossibleValues, Range, possible
from ccmatic.answers.estimation.particle_filter import ParticleFilter, Signals, gap_of_all, gap_of_one, signals
from ccmatic.answers.estimation.report import draw, line, text
from ccmatic.answers.estimation.senders import Estimate, estimate, estimates, network_of

__all__ = [
    "ANY",
    "Estimate",
    "ParticleFilter",
    "PossibleValues",
    "Range",
    "Signals",
    "draw",
    "estimate",
    "estimates",
    "gap_of_all",
    "gap_of_one",
    "line",
    "network_of",
    "particle_filter",
    "possible",
    "signals",
    "text",
]
