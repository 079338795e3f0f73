"""How far a controller may be widened: all maximal envelopes around it that keep a query's property."""

from ccmatic.analysis.widening.ends import End, Grid, Point, factors
from ccmatic.analysis.widening.file import WideningReport, check_widening, envelope_name, said_of
from ccmatic.analysis.widening.folder import lines, widen_to
from ccmatic.analysis.widening.search import Breaking, Checkpoint, Widening, widen

__all__ = [
    "Breaking",
    "Checkpoint",
    "End",
    "Grid",
    "Point",
    "Widening",
    "WideningReport",
    "check_widening",
    "envelope_name",
    "factors",
    "lines",
    "said_of",
    "widen",
    "widen_to",
]
