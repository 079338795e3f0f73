"""Fronts: the best guarantees on a network, and the controllers of a template that give these guarantees."""

from ccmatic.proving.fronts.figure import draw
from ccmatic.proving.fronts.front import Front, find_front
from ccmatic.proving.fronts.points import MEASURES, Member, Point, dominated
from ccmatic.proving.fronts.search import envelopes, members, network_of, prove_each, step_of

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
