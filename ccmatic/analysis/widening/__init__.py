"""How far a controller may be widened: all maximal envelopes around it that keep a query's property."""

from ccmatic.analysis.widening.ends import End, Grid, Point, factors
from ccmatic.analysis.widening.file import (
    ABOUT,
    WideningReport,
    check_widening,
    envelope_name,
    said_of,
    to_json,
    trace_name,
    unfinished,
)
from ccmatic.analysis.widening.search import Breaking, Known, Widening, widen

__all__ = [
    "ABOUT",
    "Breaking",
    "End",
    "Grid",
    "Known",
    "Point",
    "Widening",
    "WideningReport",
    "check_widening",
    "envelope_name",
    "factors",
    "said_of",
    "to_json",
    "trace_name",
    "unfinished",
    "widen",
]
