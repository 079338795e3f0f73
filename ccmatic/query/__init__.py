"""Queries: a network, a property of controllers on this network, and a template of controllers for synthesis."""

from ccmatic.query.advice import advice
from ccmatic.query.exclusions import beyond_window, knows_more, left_out, left_out_of_trace
from ccmatic.query.network import DELAYS, LONGEST, Network
from ccmatic.query.query import Decides, Query
from ccmatic.query.reading import from_record, load, make

__all__ = [
    "DELAYS",
    "LONGEST",
    "Decides",
    "Network",
    "Query",
    "advice",
    "beyond_window",
    "from_record",
    "knows_more",
    "left_out",
    "left_out_of_trace",
    "load",
    "make",
]
