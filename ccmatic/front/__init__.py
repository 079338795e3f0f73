"""The front of what can be guaranteed on a network, and by whom of a template's controllers."""

from ccmatic.front.figure import draw
from ccmatic.front.points import MEASURES, Point, dominated
from ccmatic.front.search import members, network_of, prove_each

__all__ = ["MEASURES", "Point", "dominated", "draw", "members", "network_of", "prove_each"]
