"""Fronts: the best guarantees on a network, and the controllers of a template that give these guarantees."""

from ccmatic.analysis.fronts.figure import draw
from ccmatic.analysis.fronts.front import Front, find_front
from ccmatic.analysis.fronts.points import MEASURES, Member, Point, dominated
from ccmatic.analysis.fronts.search import envelopes, members, network_of, prove_each, step_of

__all__ = [
    "MEASURES",
    "Front",
    "Member",
    "Point",
    "dominated",
    "draw",
    "envelopes",
    "find_front",
    "members",
    "network_of",
    "prove_each",
    "step_of",
]
