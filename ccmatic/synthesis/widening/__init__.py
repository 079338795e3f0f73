"""Widening: all maximal envelopes around a controller that ensure a query's property."""

from ccmatic.synthesis.widening.ends import End, Grid, Point, counts
from ccmatic.synthesis.widening.file import WideningReport, check_widening, envelope_docstring, envelope_name
from ccmatic.synthesis.widening.folder import lines, widen_to
from ccmatic.synthesis.widening.search import BreakingTrace, Checkpoint, Widening, widen

__all__ = [
    "BreakingTrace",
    "Checkpoint",
    "End",
    "Grid",
    "Point",
    "Widening",
    "WideningReport",
    "check_widening",
    "counts",
    "envelope_docstring",
    "envelope_name",
    "lines",
    "widen",
    "widen_to",
]
