"""Widening: all maximal envelopes around a controller that ensure a query's property."""

from ccmatic.synthesis.widening.folder import (
    WideningReport,
    check_widening,
    envelope_docstring,
    envelope_name,
    lines,
    widen,
)
from ccmatic.synthesis.widening.grid import Grid, counts
from ccmatic.synthesis.widening.search import Widening

__all__ = [
    "Grid",
    "Widening",
    "WideningReport",
    "check_widening",
    "counts",
    "envelope_docstring",
    "envelope_name",
    "lines",
    "widen",
]
