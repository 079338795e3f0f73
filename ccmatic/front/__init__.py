"""The front of what can be guaranteed on a network, and by whom of a template's controllers."""

from ccmatic.front.command import Front, find
from ccmatic.front.figure import draw
from ccmatic.front.points import MEASURES, Member, Point, dominated
from ccmatic.front.search import envelopes, members, network_of, prove_each, step_of

__all__ = [
    "MEASURES",
    "Front",
    "Member",
    "Point",
    "dominated",
    "draw",
    "envelopes",
    "find",
    "members",
    "network_of",
    "prove_each",
    "step_of",
]
